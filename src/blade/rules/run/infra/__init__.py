"""Rules of the family infra over whole runs."""
