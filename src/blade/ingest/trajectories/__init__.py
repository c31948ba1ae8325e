"""Logs that agents write of themselves, one file a format, as items of a response: messages, calls and their results."""
