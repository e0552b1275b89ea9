"""`stellwerk sandbox`: what each level of the sandbox refuses on this machine.

May import: `stellwerk.shared`, `stellwerk_processes`.

Law: it prints what a witness has just tried, and nothing from a table of what a level is supposed to do.
"""
