"""From whatever a harness wrote to the run tables: find the files, read each row once, say what could not be used."""
