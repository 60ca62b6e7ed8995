"""Extracts the calls from files of recorded replies: the rows, the chunks of a file, where chunks run, and the output file.

Imported by the command line alone. A chunk is a place in the input; workers, here or on a cluster, read it there themselves.
"""
