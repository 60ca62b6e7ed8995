"""Layer 5: tools that can be run, and the loop that lets a model use them."""
