"""Probing a model: questions, observations, the findings that follow, and the verdict. `probing` sends the requests."""
