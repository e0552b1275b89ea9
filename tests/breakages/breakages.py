"""Small breakages of a module: a comparison turned round, a statement left out, another number.

Law: each changes one place of the code, and compiles. Nothing else is broken: no text for people, no type, no
docstring, no assertion, and nothing that only other tools read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_OTHER_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OTHER_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
}
_OTHER_FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_HOW_RECORDS_ARE_MADE: Final = frozenset({"frozen", "slots", "kw_only", "gc", "omit_defaults", "eq", "order"})
_FOR_OTHER_TOOLS: Final = ("TYPE_CHECKING", "__name__ == '__main__'")


@dataclass(frozen=True, slots=True)
class Breakage:
    """One change of one file: the characters from `start` to `end` become `text`."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    what: str  # `other.rank < team.rank -> other.rank <= team.rank`

    def apply(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def breakages(path: Path, source: str) -> list[Breakage]:
    """Return everything that can be broken in a module, in the order of the text."""
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    lines = source.splitlines(keepends=True)

    def place(line: int, column: int) -> int:  # ast counts bytes
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    result: list[Breakage] = []
    for node, other in _changes(ast.parse(source)):
        assert node.end_lineno is not None  # whatever was parsed has an end
        assert node.end_col_offset is not None
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno, node.end_col_offset)
        text = ast.unparse(other) if isinstance(other, ast.stmt) else f"({ast.unparse(other)})"
        what = f"{_shown(ast.unparse(node))} -> {'left out' if isinstance(other, ast.Pass) else _shown(text)}"
        result.append(Breakage(path, node.lineno, start, end, text, what))
    return result


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 70 else line[:70] + "..."


Node = ast.expr | ast.stmt


def _changes(node: ast.AST) -> Iterator[tuple[Node, Node]]:
    """Yield each node that can be broken, with what takes its place."""
    if isinstance(node, ast.expr):
        yield from ((node, other) for other in _other_expressions(node))
    elif isinstance(node, ast.stmt) and _can_be_left_out(node):
        yield node, ast.Pass()
    for child in _broken_children(node):
        yield from _changes(child)


def _broken_children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node, without annotations, texts for people, and what only other tools read."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Raise():
            return
        case ast.If() if any(words in ast.unparse(node.test) for words in _FOR_OTHER_TOOLS):
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (*node.args.defaults, *(each for each in node.args.kw_defaults if each), *node.body)
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
        case ast.Call(func=function) if _is_for_people(function):
            return
        case ast.Call(func=ast.Name(id="zip")):  # strict=True is an assertion
            yield from node.args
        case ast.Call():
            yield from (node.func, *node.args)
            yield from (each.value for each in node.keywords if each.arg not in _HOW_RECORDS_ARE_MADE)
        case ast.Subscript() if isinstance(node.value, ast.Name) and node.value.id[:1].isupper():
            return  # a type
        case _:
            yield from ast.iter_child_nodes(node)


def _other_expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                other = copy(node)
                other.ops = [*node.ops]
                other.ops[number] = _OTHER_COMPARISONS[type(operator)]()
                yield other
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _OTHER_OPERATORS and not _is_text(node):
            yield ast.BinOp(node.left, _OTHER_OPERATORS[type(node.op)](), node.right)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _OTHER_FUNCTIONS:
            yield ast.Call(ast.Name(_OTHER_FUNCTIONS[name]), node.args, node.keywords)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case _:
            pass


def _is_for_people(function: ast.expr) -> bool:
    return ast.unparse(function).startswith(("log.", "print"))


def _is_text(node: ast.BinOp) -> bool:
    """Look whether this joins texts or types."""
    parts = (node.left, node.right)
    return any(isinstance(each, ast.JoinedStr) or _is_string(each) for each in parts)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _can_be_left_out(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=function)):
            return not _is_for_people(function)
        case ast.Expr(value=ast.Await() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Delete():
            return True
        case ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Return(value=None):
            return True
        case _:
            return False
