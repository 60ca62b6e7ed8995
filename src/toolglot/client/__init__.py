"""Async I/O: connections, retry before the commit point, asking running servers."""
