"""The papers' experiments as functions: a table in, a table and pictures out."""
