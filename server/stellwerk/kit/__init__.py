"""`stellwerk kit`: tools for authors of bots, a module each.

May import: `stellwerk.shared`, `stellwerk_kit`, bot processes, the engine, and JUnit of tournaments.

Law: a finding names the law that is broken, what was expected and what came.
"""
