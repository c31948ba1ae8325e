"""Readers' attributions: kept in a file, checked against the rollouts, drawn by sample, and compared with each other."""
