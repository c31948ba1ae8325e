"""The `blade` command: one module a command, one place that catches."""
