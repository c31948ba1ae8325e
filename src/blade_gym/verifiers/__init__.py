"""Verifiers, one a file: what turns an answer into a reward, with the account that a diagnosis needs."""
