"""`stellwerk protocol`: where the specification and the schemas are.

May import: `stellwerk.shared` and the protocol.

Law: it prints paths and page names, and changes nothing.
"""
