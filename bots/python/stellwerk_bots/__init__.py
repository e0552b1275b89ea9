"""The reference bots, and a client library that a student can read."""
