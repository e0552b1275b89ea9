"""The figures count what they say. No test holds a figure itself."""

from __future__ import annotations

from tests.figures import functions_of

MODULE = '''
class Room:
    def open(self):
        """Open the door."""
        return self._key() and _known(self)

    def _key(self):
        """Return the key,

        or None."""
        key = self.keys
        return key

    def __len__(self):
        return 0


def _known(room):
    return _known


def _unused(): ...
'''


def test_a_private_function_is_used_once_if_its_module_names_it_once() -> None:
    functions = {function.name: function for function in functions_of("room.py", MODULE)}
    assert {name: function.uses for name, function in functions.items()} == {
        "open": 0,
        "_key": 1,
        "__len__": 0,
        "_known": 2,
        "_unused": 0,
    }
    assert [name for name, function in functions.items() if function.is_private] == [
        "_known",
        "_unused",
        "_key",
    ]
    assert [name for name, function in functions.items() if function.is_used_once] == ["_key"]


def test_a_docstring_is_neither_a_line_nor_a_statement_of_its_function() -> None:
    functions = {function.name: function for function in functions_of("room.py", MODULE)}
    assert (functions["open"].lines, functions["open"].statements) == (2, 1)
    assert (functions["_key"].lines, functions["_key"].statements) == (3, 2)
    assert functions["_key"].place == "room.py:7"
