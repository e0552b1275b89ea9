"""Generators of the files in `protocol/` that programs write: vectors, transcripts and recorded sessions.

Each module is named after the files that it makes. `make generate` writes them all; README.md lists which
file comes from which module.

They may import everything: the packages, because the real engine and server produce the files, and helpers of
the tests. No package imports them, and they are not installed.

The law: a file depends on the code alone, never on the time, the machine or the run. A test generates each
file and compares the bytes, so a change of behavior is a change of a file that a reviewer sees.
"""
