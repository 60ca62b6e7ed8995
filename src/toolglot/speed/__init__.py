"""How fast toolglot is: what is run and how it is timed, for `toolglot bench` and for the benches of the project."""
