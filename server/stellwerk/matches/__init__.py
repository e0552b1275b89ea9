"""The two players of matches, which `play` and `compare` share: on the engine, and by the wire.

May import: `stellwerk.shared` and all packages below.

Law: match number i follows from the plan and i alone. A fault of a bot costs that bot only its match.
"""
