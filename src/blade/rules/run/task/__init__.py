"""Rules of the family task over whole runs."""
