"""What is said between the server and a bot: messages, moves, events, views, and the codec for them.

The lowest layer. It knows neither rules nor sockets, and depends on msgspec alone, so that a client can use
it without the rest.
"""
