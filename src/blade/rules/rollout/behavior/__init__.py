"""Rules about what an agent did on its way to an answer."""
