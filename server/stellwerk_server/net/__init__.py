"""Sockets, TLS, pipes, lines, the clock: all that waits."""
