"""`stellwerk gate`: a verdict on a candidate, for CI.

May import: `stellwerk.shared` and all packages below.

Law: the exit code is the verdict. Nothing that a bot prints is read as a command, as markup or as a verdict.
"""
