"""Logs as events: one small parser per tool."""
