"""Due against done, contrast by party, modes that add up: what went wrong in each failure, by rules over rows."""
