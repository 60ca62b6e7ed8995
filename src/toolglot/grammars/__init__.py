"""Layer 2: the few ways in which all models write calls. A dialect is one of these with its own markers."""
