"""Analysis to text: computes nothing, rounds in one place, escapes what rollouts wrote."""
