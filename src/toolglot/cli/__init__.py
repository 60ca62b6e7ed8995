"""Layer 7: the command line. Results go to stdout, the rest to stderr. Exit codes: 0 success, 1 failure, 2 usage error."""
