"""All that waits: sockets, TLS, pipes, the clock, and the status page over HTTP.

Imports all other rooms. Law: whatever a peer does, and whatever goes wrong in serving it, ends with its own
connection.
"""
