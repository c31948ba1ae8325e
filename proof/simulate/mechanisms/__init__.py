"""What can be planted: one function a mechanism, grouped by world and by whose doing it is. There is no registry."""
