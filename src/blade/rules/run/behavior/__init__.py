"""Rules of the family behavior over whole runs."""
