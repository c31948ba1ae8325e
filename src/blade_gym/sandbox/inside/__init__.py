"""What runs inside the sandbox: the standard library alone, since nothing else of BLADE can be seen from there."""
