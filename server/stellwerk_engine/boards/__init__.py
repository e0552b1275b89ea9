"""Boards: the records of a board file, the checks on it, the tables of a board, the shipped files."""
