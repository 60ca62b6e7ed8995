"""Probing a model: the questions, what is seen, the faults that follow from it, and the verdict. `probing` does the asking."""
