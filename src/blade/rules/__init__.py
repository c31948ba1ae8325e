"""Symptoms, one file a rule: those of a single rollout under `rollout/`, those of a whole run under `run/`."""
