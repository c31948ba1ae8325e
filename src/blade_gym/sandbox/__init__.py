"""Code and expressions that a model wrote are run in child processes with limits, a folder of their own and no network."""
