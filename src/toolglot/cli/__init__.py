"""Layer 7: the command line. Results go to stdout, everything else to stderr; 0 ok, 1 failed, 2 wrong use."""
