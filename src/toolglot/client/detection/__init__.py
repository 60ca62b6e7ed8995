"""Asking a running server about a model: which questions there are, how the answers are read, what follows from them."""
