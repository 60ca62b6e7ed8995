"""Judging a model's calls: questions with gold answers, and the scoring of what was called. Asks no model itself."""
