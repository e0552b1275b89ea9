"""What the subcommands share: errors and their exit codes, the terminal, arguments, words.

Law: a subcommand imports this and the packages below, and no other subcommand.
"""
