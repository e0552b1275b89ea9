"""The bot `planner`: rules of thumb over a plan of routes.

Imports the protocol, the engine and the client library.
"""
