"""`stellwerk protocol`: where the specification is, and the schema of a message.

May import: `stellwerk.shared` and the protocol.

Law: it prints paths, names and schemas, and changes nothing.
"""
