"""Rules about the answer that an agent gave, or did not give."""
