"""The mutants of one module: every small way to break a condition, a flag, a row or a barrier of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import CodeType
from typing import Any

_NEGATED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_AT_THE_BOUND: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(), ast.Sub: ast.Add(), ast.Mult: ast.Add(), ast.BitOr: ast.BitAnd(), ast.BitAnd: ast.BitOr(),
}  # fmt: skip
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
#: Comparisons inside the conditions that DynamoDB evaluates.
_SIGNS = {"=": "<>", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
#: What a message for people says is no rule; `strict` of zip guards against what cannot happen.
_UNMUTATED_CALLS = {"TypeError", "ValueError", "RuntimeError", "NotDone", "getLogger"}
_UNMUTATED_KEYWORDS = {"strict", "thread_name_prefix"}


#: A tuple there is several values or a type's arguments, and no list of rows.
_NO_ROWS = (ast.Return, ast.Assign, ast.Subscript)
_LONG = 160


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken version of a module.

    *scope* is the outermost function that contains the change, by its qualified name, or None for the module's own
    level: tables, defaults, classes. *lines* are those of the statement that is changed.
    """

    module: str
    scope: str | None
    lines: range
    was: str
    became: str
    code: CodeType
    source: str

    @property
    def name(self) -> tuple[str, str, str, str]:
        """What stays the same when the lines move."""
        return (self.module, self.scope or "", self.was, self.became)


def mutants(module: str, source: str, filename: str, namespace: Mapping[str, Any]) -> Iterator[Mutant]:
    """Make every mutant of a module. *namespace* is that of the imported module: it knows the enumerations."""
    tree = ast.parse(source)
    for parent, field, index, node, scope, lines in list(_sites(tree, None, None)):
        for new in _replacements(node, parent, field, namespace):
            _put(parent, field, index, new)
            ast.fix_missing_locations(tree)
            try:
                code = compile(tree, filename, "exec", dont_inherit=True)
                yield Mutant(module, scope, lines, *_names(node, new), code, ast.unparse(tree))
            except SyntaxError:
                pass
            finally:
                _put(parent, field, index, node)


Site = tuple[ast.AST, str, int | None, ast.AST, str | None, range]


def _sites(node: ast.AST, scope: str | None, lines: range | None, prefix: str = "") -> Iterator[Site]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params") or (field == "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_left_alone(child):
                continue
            own = _lines(child) if isinstance(child, ast.stmt) else lines
            inner, path = scope, prefix
            if isinstance(child, ast.ClassDef):
                path = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and scope is None:
                yield from _sites(child.args, None, own, prefix)
                inner, path = f"{prefix}{child.name}", ""
            yield node, field, index, child, scope, own or range(1, 2)
            if not (isinstance(child, ast.arguments) and isinstance(node, ast.FunctionDef) and inner == scope):
                yield from _sites(child, inner, own, path)


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.keyword) and node.arg in _UNMUTATED_KEYWORDS:
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _UNMUTATED_CALLS


def _lines(node: ast.stmt) -> range:
    """The lines of a simple statement, or of a compound one's head."""
    body = getattr(node, "body", None)
    return range(node.lineno, max(node.lineno + 1, body[0].lineno if body else (node.end_lineno or node.lineno) + 1))


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _replacements(node: ast.AST, parent: ast.AST, field: str, namespace: Mapping[str, Any]) -> Iterator[ast.AST]:
    if isinstance(node, ast.stmt):
        yield from _statements(node, parent)
    elif isinstance(node, ast.ExceptHandler) and ast.unparse(node.body[0]) != "raise":
        yield ast.ExceptHandler(type=node.type, name=node.name, body=[ast.Raise()])
    elif isinstance(node, ast.expr):
        if _decides(parent, field) and not isinstance(node, ast.Compare):
            yield ast.UnaryOp(op=ast.Not(), operand=node)
        if isinstance(parent, ast.comprehension) and field == "ifs":
            yield ast.Constant(True)
        yield from _expressions(node, parent, namespace)


def _decides(parent: ast.AST, field: str) -> bool:
    return field == "test" or (isinstance(parent, ast.comprehension) and field == "ifs")


def _statements(node: ast.stmt, parent: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Delete():
            yield ast.Pass()
        case ast.Return() if not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.Pass()
        case ast.With() if all(item.optional_vars is None for item in node.items):
            yield ast.If(test=ast.Constant(True), body=node.body, orelse=[])


def _expressions(node: ast.expr, parent: ast.AST, namespace: Mapping[str, Any]) -> Iterator[ast.expr]:
    yield from _conditions(node, parent)
    yield from _constants(node)
    yield from _rows(node, parent)
    if isinstance(node, ast.Call):
        yield from _calls(node)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield from _siblings(node, node.value, namespace.get(node.value.id))


def _conditions(node: ast.expr, parent: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(ops=[op]):
            for table in (_NEGATED, _AT_THE_BOUND):
                if type(op) in table:
                    yield ast.Compare(left=node.left, ops=[table[type(op)]()], comparators=node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(op=ast.Or() if isinstance(node.op, ast.And) else ast.And(), values=node.values)
            for rest in _without_one(node.values):
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp(op=ast.BitOr()) if isinstance(parent, ast.Call):  # isinstance(…, A | B)
            yield from (node.left, node.right)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield ast.BinOp(left=node.left, op=_OPERATORS[type(node.op)], right=node.right)


def _constants(node: ast.expr) -> Iterator[ast.expr]:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and value in _SIGNS:
        yield ast.Constant(_SIGNS[value])


def _rows(node: ast.expr, parent: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.List(ctx=ast.Load()) | ast.Set() if node.elts:
            for rest in _without_one(node.elts):
                yield _like(node, rest)
        case ast.Tuple(ctx=ast.Load()) if len(node.elts) > 1 and not isinstance(parent, _NO_ROWS):
            for rest in _without_one(node.elts):
                yield ast.Tuple(elts=rest, ctx=ast.Load())
        case ast.Dict():
            for keys, values in zip(_without_one(node.keys), _without_one(node.values), strict=True):
                yield ast.Dict(keys=keys, values=values)


def _siblings(node: ast.Attribute, name: ast.Name, enumeration: object) -> Iterator[ast.expr]:
    if isinstance(enumeration, type) and issubclass(enumeration, Enum) and node.attr in enumeration.__members__:
        members = list(enumeration.__members__)
        sibling = members[(members.index(node.attr) + 1) % len(members)]
        yield ast.Attribute(value=name, attr=sibling, ctx=node.ctx)


def _like(node: ast.List | ast.Set, values: list[ast.expr]) -> ast.expr:
    if isinstance(node, ast.List):
        return ast.List(elts=values, ctx=ast.Load())
    empty = ast.Call(func=ast.Name(id="set", ctx=ast.Load()), args=[], keywords=[])
    return ast.Set(elts=values) if values else empty


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    for index, keyword in enumerate(node.keywords):
        if keyword.arg not in _UNMUTATED_KEYWORDS:
            rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
            yield ast.Call(func=node.func, args=node.args, keywords=rest)
    if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        keywords = [] if node.func.id == "sorted" else node.keywords
        yield ast.Call(func=ast.Name(id=_FUNCTIONS[node.func.id], ctx=ast.Load()), args=node.args, keywords=keywords)


def _without_one(values: Sequence[Any]) -> Iterator[list[Any]]:
    for index in range(len(values)):
        yield [*values[:index], *values[index + 1 :]]


def _names(node: ast.AST, new: ast.AST) -> tuple[str, str]:
    """Both texts, cut to what differs where they are long."""
    was, became = (" ".join(ast.unparse(one).split()) for one in (node, new))
    if max(len(was), len(became)) <= _LONG:
        return was, became
    head = _alike(was, became)
    tail = _alike(was[head:][::-1], became[head:][::-1])
    head, tail = max(0, head - 20), max(0, tail - 20)
    return _cut(was, head, tail), _cut(became, head, tail)


def _alike(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(text: str, head: int, tail: int) -> str:
    middle = text[head : len(text) - tail]
    middle = middle if len(middle) <= _LONG else f"{middle[:_LONG]} …"
    return f"{'… ' if head else ''}{middle}{' …' if tail else ''}"
