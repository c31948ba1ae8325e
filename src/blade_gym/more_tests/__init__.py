"""More tests for a function that has some: inputs like those it is tested with, and what its own solution gives for them."""
