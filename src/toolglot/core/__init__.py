"""Layer 0: frozen values, events, and what can be said of them without knowing any wire."""
