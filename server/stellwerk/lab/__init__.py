"""The laboratory: matches from Python, in this process and without sockets.

May import: `stellwerk.matches`, `stellwerk.shared` and all packages below. `import stellwerk` offers what
is public here.

Law: a player is asked what it would be asked over the wire, byte for byte, so the same class with the same
seed makes the same moves in both.
"""
