"""Evaluates a model's tool calls: questions with expected answers, scoring and reports. Sends no requests itself."""
