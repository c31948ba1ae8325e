"""A text game: rooms, doors, a key, and a thing to bring somewhere."""
