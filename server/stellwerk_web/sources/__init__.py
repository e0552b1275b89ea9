"""Where matches come from: a server by its protocol, replays and tournaments on disk.

A source calls the model (`show`), sees no HTTP, and brings what is public: the public `start`, public
events, the public `end`.
"""
