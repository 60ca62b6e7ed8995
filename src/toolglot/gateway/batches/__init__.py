"""Batches that the gateway runs itself, against any upstream, for clients of OpenAI's and Anthropic's batch APIs."""
