"""Mutants of a module: its source with one operator, comparison, constant or term changed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "cos": "sin",
    "sin": "cos",
    "sum": "mean",
    "mean": "sum",
    "any": "all",
    "all": "any",
}
TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclass(frozen=True)
class Mutant:
    """One change to a module."""

    line: int
    text: str  # of that line
    before: str  # the expression as it was
    after: str
    source: str  # of the whole module

    @property
    def change(self) -> str:
        """How it is named where equivalent ones are listed."""
        return _name_change(self.before, self.after)


def count_changes(source: str) -> list[int]:
    """How many changes each expression of a module has, in their order: `make_mutant` makes one."""
    return [sum(1 for _ in _changes(node)) for node in _numeric_nodes(ast.parse(source))]


def name_changes(source: str) -> set[tuple[str, str]]:
    """How all mutants of a module are named, each with its line, without making them."""
    lines = [line.strip() for line in source.splitlines()]
    return {
        (_name_change(ast.unparse(node), ast.unparse(changed)), lines[node.lineno - 1])
        for node in _numeric_nodes(ast.parse(source))
        for changed in _changes(node)
    }


def _name_change(before: str, after: str) -> str:
    return f"{before} -> {after}"


def make_mutant(source: str, place: int, number: int) -> Mutant:
    """The module with one change, that of this number, to the expression at this place."""
    tree = ast.parse(source)
    node = list(_numeric_nodes(tree))[place]
    changed = copy.deepcopy(list(_changes(node))[number])
    before, after = ast.unparse(node), ast.unparse(changed)
    whole = ast.fix_missing_locations(_Replace(node, changed).visit(tree))
    text = source.splitlines()[node.lineno - 1].strip()
    return Mutant(node.lineno, text, before, after, ast.unparse(whole))


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def _numeric_nodes(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that make numbers: none in annotations, decorators, texts and refusals."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords", "type_params"):
            if name == "keywords" and isinstance(tree, ast.Call):
                for keyword in tree.keywords:
                    yield from _numeric_nodes(keyword)
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(child, ast.AnnAssign) and child.value is None:
                continue
            if isinstance(child, ast.expr) and any(True for _ in _changes(child)):
                yield child
            yield from _numeric_nodes(child)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """What one expression is replaced by, each alone."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        if _is_text(node.left) or _is_text(node.right):
            return
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
        if isinstance(node.op, TERMS):
            yield node.left  # the other term is dropped
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = node.value
        yield ast.Constant(value + 1 if isinstance(value, int) else 1.5 * value + (value == 0))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        if name in CALLS:
            func = copy.deepcopy(node.func)
            if isinstance(func, ast.Attribute):
                func.attr = CALLS[name]
            elif name in ("min", "max", "any", "all"):
                func.id = CALLS[name]
            else:
                return
            yield ast.Call(func, node.args, node.keywords)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
