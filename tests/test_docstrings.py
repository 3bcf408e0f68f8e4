"""Every public name of the package says what it is: modules, classes, functions, fields.

Read from the source, not imported: what a compiler or a decorator wraps is seen as it is written.
A public dataclass documents each field by a string below it, or by the `help=` from which its flag
and its slider are made; so do an enumeration, a named tuple and a typed dictionary. Properties of a
protocol count as any other.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src/corporeal"
MODULES = sorted(PACKAGE.rglob("*.py"))
RECORDS = ("NamedTuple", "TypedDict", "Enum", "StrEnum", "IntEnum", "Protocol")
"""Base classes whose annotated or assigned names are fields."""
MAKERS = ("dataclass", "noun", "pytree_dataclass", "settings")
"""Decorators that turn annotations into fields."""


def undocumented(source: str) -> Iterator[str]:
    """Public names of a module that have no words, as `Class.name`, or `(the module)`."""
    tree = ast.parse(source)
    if ast.get_docstring(tree) is None and tree.body:
        yield "(the module)"
    yield from _bare(tree.body, "")


def _bare(body: list[ast.stmt], inside: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            name = f"{inside}{statement.name}"
            if not statement.name.startswith("_"):
                if ast.get_docstring(statement) is None:
                    yield name
                if _is_record(statement):
                    yield from (f"{name}.{field}" for field in _bare_fields(statement))
                yield from _bare(statement.body, f"{name}.")
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            hidden = statement.name.startswith("_") or _is_variant(statement)
            if not hidden and ast.get_docstring(statement) is None:
                yield f"{inside}{statement.name}"
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            for part in ("body", "orelse", "finalbody"):
                yield from _bare(getattr(statement, part, []), inside)


def _bare_fields(owner: ast.ClassDef) -> Iterator[str]:
    """Public fields without a string literal below them."""
    following = [*owner.body[1:], None]
    for statement, after in zip(owner.body, following, strict=True):
        if isinstance(statement, ast.AnnAssign):
            target = statement.target
        elif isinstance(statement, ast.Assign) and _inherits(owner, ("Enum", "StrEnum", "IntEnum")):
            target = statement.targets[0]
        else:
            continue
        documented = _is_text(after) or _has_help(statement)
        if isinstance(target, ast.Name) and not target.id.startswith("_") and not documented:
            yield target.id


def _is_text(statement: ast.stmt | None) -> bool:
    """Whether a statement is a string literal by itself."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _has_help(statement: ast.stmt) -> bool:
    """Whether a field is told what it is by `help=`, as controls and flags are."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(keyword.arg == "help" for call in calls for keyword in call.keywords)


def _is_record(owner: ast.ClassDef) -> bool:
    made = any(_name(decorator) in MAKERS for decorator in owner.decorator_list)
    return made or _inherits(owner, RECORDS)


def _inherits(owner: ast.ClassDef, names: tuple[str, ...]) -> bool:
    return any(_name(base) in names for base in owner.bases)


def _is_variant(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Setters and overloads say no more than the property or function they belong to."""
    return any(_name(d) in ("setter", "deleter", "overload") for d in function.decorator_list)


def _name(expression: ast.expr) -> str:
    """Last word of a dotted name, called or subscribed or not."""
    while isinstance(expression, ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else ""


def test_every_public_name_has_words():
    """Of all modules at once, so that a failure lists everything that is bare."""
    found = {
        str(module.relative_to(PACKAGE)): list(undocumented(module.read_text(encoding="utf-8")))
        for module in MODULES
    }
    assert {module: names for module, names in found.items() if names} == {}


def test_the_check_finds_what_is_bare():
    """Each kind of public name, bare; and each kind that needs no words of its own."""
    source = '''
from dataclasses import dataclass

class Bare:
    def method(self): ...
    @property
    def size(self): ...
    @size.setter
    def size(self, value): ...
    def _private(self): ...

@dataclass(frozen=True)
class Record:
    """Words."""
    told: int
    """Words."""
    helped: float = control(0.0, help="words")
    untold: float = 0.0
    _hidden: int = 0

def function(): ...
def _private(): ...
'''
    assert list(undocumented(source)) == [
        "(the module)",
        "Bare",
        "Bare.method",
        "Bare.size",
        "Record.untold",
        "function",
    ]
    assert list(undocumented('"""Words."""\ndef f():\n    """Words."""\n')) == []
