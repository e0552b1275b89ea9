"""Modules that several subcommands use: terminals, errors with their exit codes, common arguments, words for
events.

May import: all packages below, and no subcommand. `command_line` imports `errors` and `terminal` to show
`--help`, so these two import nothing of Stellwerk before they need it.

Law: a user sees every error as one line that says what, where and what was expected.
"""
