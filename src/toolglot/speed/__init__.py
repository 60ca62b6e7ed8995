"""Benchmarks: what is run and how it is timed, for `toolglot bench` and for the scripts in bench/."""
