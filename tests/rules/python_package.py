"""What holds for the sources of the Python package."""

import ast

from include_arrows import circles
from sources import Rule, sources

FOLDER = "python/memoir"


def modules(tree):
    """name -> syntax tree of each module of the package."""
    found = {}
    for source in sources(tree):
        if source.folder == FOLDER and source.suffix == ".py":
            found["memoir" if source.stem == "__init__" else f"memoir.{source.stem}"] = ast.parse(source.text, source.path)
    return found


def imported(node, known):
    """The modules of `known` that an import names. `from memoir import _x` is the module _x, and not the package, which only leads there."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & known
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = ".".join(filter(None, ("memoir" if node.level else "", node.module)))
    return {name if (name := f"{base}.{alias.name}") in known else base for alias in node.names} & known


def no_import_circles(tree):
    """No module of the package imports one that imports it, in a function or for types either: each can be read after those it needs."""
    found = modules(tree)
    graph = {name: set().union(*(imported(node, set(found)) for node in ast.walk(body))) for name, body in found.items()}
    yield from (f"modules in a circle: {' -> '.join(circle)}" for circle in circles(graph))


RULES = (
    Rule(
        no_import_circles,
        (
            {f"{FOLDER}/_a.py": "from memoir import _b\n", f"{FOLDER}/_b.py": "def f():\n    from memoir import _a\n"},
            {f"{FOLDER}/_a.py": "import memoir._b\n", f"{FOLDER}/_b.py": "from memoir._c import x\n", f"{FOLDER}/_c.py": "from ._a import x\n"},
            {f"{FOLDER}/__init__.py": "from memoir._a import x\n", f"{FOLDER}/_a.py": "def f():\n    from memoir import start\n"},
            {f"{FOLDER}/_a.py": "if TYPE_CHECKING:\n    from . import _b\n", f"{FOLDER}/_b.py": "from memoir import _a\n"},
        ),
    ),
)
