"""Configs of the benchmark layer: files that chain and inherit, resolved into one value; reading them writes nothing."""
