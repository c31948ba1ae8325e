"""How well a report matches a golden one: claims read, compared and scored, and the judge calibrated."""
