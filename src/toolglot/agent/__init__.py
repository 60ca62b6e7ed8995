"""Layer 5: tools that can be run, the loop that lets a model use them, and records of runs."""
