"""The operator's side: settings with their defaults and errors, the log, descriptors, garbage collection.

Imports no other room of the server. Law: each setting has one default, in one table, and the pages for
operators are compared with it.
"""
