"""Layer 2: the notations in which models write tool calls. A dialect is a notation with its markers."""
