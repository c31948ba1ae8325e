"""Runs with planted faults, and what is true of them: made to prove the diagnosis, and known to no rule.

A world plays rollouts as an honest model would; a mechanism plants one fault, or one harmless alarm, in them.
"""
