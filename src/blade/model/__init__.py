"""Values that every part of BLADE passes around; this package imports the standard library and msgspec only."""
