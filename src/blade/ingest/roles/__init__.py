"""What the fields of a run mean, decided from a sample of its rows before they are scanned."""
