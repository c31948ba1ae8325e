"""Reports against the data and against themselves."""
