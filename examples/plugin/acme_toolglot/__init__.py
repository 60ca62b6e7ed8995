"""Acme's models and servers for toolglot."""
