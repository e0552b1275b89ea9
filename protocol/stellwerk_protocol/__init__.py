"""The language between the server and a bot: messages, moves, events, views, and their codec.

It knows neither rules nor sockets, and depends on `stellwerk_base` and msgspec alone, so that a client
can use it without the rest.
"""
