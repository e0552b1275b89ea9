"""The language between the server and a bot: messages, moves, events, views, and their codec.

This is the lowest layer. It knows neither rules nor sockets, and depends on msgspec alone, so that a client
can use it without the rest.
"""
