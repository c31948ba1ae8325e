"""Two runs against each other: joined tasks, verdict, ledger, what was held fixed, flips and shifts."""
