"""`python -m toolglot`: the command line, where no script is on the path."""

from toolglot.cli.main import main

main()
