"""The files made from the matches of a tournament (page, tables, JUnit), and the check that all is true.

May import: `config`, `ratings` and `store` of this package, and what is below it.

Law: each file is a function of the settings, the matches and the version of Stellwerk, to the byte. No text
from a bot becomes markup.
"""
