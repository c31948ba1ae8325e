"""What verifiers are written with: calls of an output, a model that judges, JSON schemas, SQL queries."""
