"""A company to be an assistant in: its records, the tools that reach them, and tasks whose key is a list of calls."""
