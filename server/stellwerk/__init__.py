"""The command `stellwerk`: a room for each subcommand, and `shared` for what several of them use.

May import: all packages. A subcommand imports `stellwerk.shared` and the packages below, and no other
subcommand, but for the demo, which runs a tournament.

Law: a command line imports its own subcommand only.
"""
