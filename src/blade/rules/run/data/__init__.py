"""Rules of the family data over whole runs."""
