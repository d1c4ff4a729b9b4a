"""Rules for the sources of the Python package: no circles, every option of a recording in memoir.start's signature, no silent exceptions."""

import ast
import re

from include_arrows import circles
from sources import Rule, sources

FOLDER = "python/_torch_memoir"
TABLE = "proto/memoir/options.def"
API = f"{FOLDER}/_recording.py"

# The type of memoir.start's argument for an option of that kind.
TYPES = {
    "kPath": "StrOrBytesPath",
    "kSize": "int | str",
    "kFlag": "bool",
    "kNumber": "int",
    "kText": "str",
    "kSteps": "str",
    "kSchedule": "str",
    "kDetail": "typing.Literal['full', 'auto', 'blocks']",
    "kLevel": "typing.Literal['on', 'memory', 'off']",
    "kSignal": "str",
    "kOperators": "typing.Literal['ranges', 'dispatch']",
    "kStacks": "typing.Literal['python', 'native', 'calls', 'off']",
    "kPublication": "typing.Literal['none', 'nvtx-memory']",
    "kSnapshots": "str",
    "kSwitch": "bool | typing.Literal['on', 'off']",
    "kKernels": "bool | typing.Literal['on', 'off', 'times']",
}
FLAGS = {"0": "False", "1": "True"}  # how the table's default of a kFlag reads in Python


def modules(tree):
    """name -> syntax tree of each module of the package."""
    return {source.path.removeprefix("python/").removesuffix(".py").removesuffix("/__init__").replace("/", "."): ast.parse(source.text, source.path)
            for source in package_sources(tree)}


def package_sources(tree):
    return (source for source in sources(tree) if source.path.startswith(f"{FOLDER}/") and source.suffix == ".py")


def packages(tree):
    """The folders of the package, as modules: _torch_memoir.holders."""
    return {f"_torch_memoir.{source.folder.removeprefix(f'{FOLDER}/')}" for source in package_sources(tree) if source.folder != FOLDER}


def imported(node, known):
    """The modules of `known` that an import names. `from _torch_memoir import _x` is the module _x, and not the package, which only leads there."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & known
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = ".".join(filter(None, ("_torch_memoir" if node.level else "", node.module)))
    return {name if (name := f"{base}.{alias.name}") in known else base for alias in node.names} & known


def no_import_circles(tree):
    """No module of the package imports one that imports it, in a function or for types either: each can be read after those it needs. The
    folders of the package have no circle, either."""
    found = modules(tree)
    graph = {name: set().union(*(imported(node, set(found)) for node in ast.walk(body))) for name, body in found.items()}
    yield from (f"modules in a circle: {' -> '.join(circle)}" for circle in circles(graph))
    folder = {name: name.split(".")[1] if name.count(".") > 1 or name in packages(tree) else name for name in found}
    rooms = {room: set() for room in folder.values()}
    for name, others in graph.items():
        rooms[folder[name]] |= {folder[other] for other in others} - {folder[name]}
    yield from (f"folders of the package in a circle: {' -> '.join(circle)}" for circle in circles(rooms))


def options(tree):
    """(argument, kind, default) of each option that memoir.start takes."""
    table = next((source.text for source in sources(tree) if source.path == TABLE), "")
    rows = re.findall(r'^MEMOIR_OPTION\("\w+", "[^"]*", "(\w*)", (\w+), "([^"]*)"', table, re.MULTILINE)
    return [row for row in rows if row[0]]


def start_takes_every_option(tree):
    """memoir.start has each option of options.def as an argument, in that order, of a type that fits, with a line of its docstring; session takes the same."""
    defined = {node.name: node for node in ast.walk(modules(tree).get("_torch_memoir._recording", ast.Module([], []))) if isinstance(node, ast.FunctionDef)}
    start, session = defined.get("start"), defined.get("session")
    if start is None or session is None:
        yield f"{API}: has no start, or no session"
        return
    if ast.dump(start.args) != ast.dump(session.args):
        yield f"{API}: session does not take what start takes"
    taken = [(given.arg, ast.unparse(given.annotation)) for given in (*start.args.args, *start.args.kwonlyargs) if given.annotation]
    wanted = [(argument, f"{TYPES.get(kind)} | None") for argument, kind, _ in options(tree)]
    if taken != wanted:
        yield f"{API}: start takes {taken}; {TABLE} has {wanted}"
    if {ast.unparse(default) for default in (*start.args.defaults, *filter(None, start.args.kw_defaults))} != {"None"} or None in start.args.kw_defaults:
        yield f"{API}: an argument of start has another default than None, which the environment could not replace"
    lines = dict(re.findall(r"^(\w+): (.*(?:\n    .*)*)", ast.get_docstring(start) or "", re.MULTILINE))
    for argument, kind, default in options(tree):
        default = FLAGS.get(default, default) if kind == "kFlag" else default
        if argument not in lines:
            yield f"{API}: the docstring of start has no line `{argument}: ...`"
        elif default and f"(default: {default})" not in lines[argument]:
            yield f"{API}: the docstring of start does not say (default: {default}) of {argument}"


def exceptions_have_reasons(tree):
    """A comment that silences mypy or ruff names one rule, and the reason."""
    for source in package_sources(tree):
        for number, line in enumerate(source.lines, 1):
            if re.search(r"#\s*(type:\s*ignore|noqa)", line) and not re.search(r"# (type: ignore\[[\w-]+\]|noqa: \w+)  # \w", line):
                yield f"{source.path}:{number}: write `# type: ignore[CODE]  # WHY` or `# noqa: CODE  # WHY`"


_ROWS = 'MEMOIR_OPTION("MEMOIR_A", "--a", "a", kPath, "", "")\nMEMOIR_OPTION("MEMOIR_B", "--b", "b", kSize, "2GiB", "")\nMEMOIR_OPTION("MEMOIR_C", "", "", kFlag, "", "")\n'
_TAKES = "(a: StrOrBytesPath | None = None, *, b: int | str | None = None):\n"
_START = f'def start{_TAKES}    """Start.\n\n    a: a folder\n    b: a size\n        (default: 2GiB)\n    """\n'
_SESSION = f"def session{_TAKES}    pass\n"


def _with(before="", after="", start=_START, session=_SESSION):
    text = start + session
    assert before in text
    return {TABLE: _ROWS, API: text.replace(before, after) if before else text}


RULES = (
    Rule(
        no_import_circles,
        (
            {f"{FOLDER}/_a.py": "from _torch_memoir import _b\n", f"{FOLDER}/_b.py": "def f():\n    from _torch_memoir import _a\n"},
            {f"{FOLDER}/_a.py": "import _torch_memoir._b\n", f"{FOLDER}/_b.py": "from _torch_memoir._c import x\n", f"{FOLDER}/_c.py": "from ._a import x\n"},
            {f"{FOLDER}/__init__.py": "from _torch_memoir._a import x\n", f"{FOLDER}/_a.py": "def f():\n    from _torch_memoir import start\n"},
            {f"{FOLDER}/one/_a.py": "from _torch_memoir.two import _b\n", f"{FOLDER}/two/_b.py": "", f"{FOLDER}/two/_c.py": "from _torch_memoir.one import _a\n"},
            {f"{FOLDER}/_a.py": "if TYPE_CHECKING:\n    from . import _b\n", f"{FOLDER}/_b.py": "from _torch_memoir import _a\n"},
        ),
    ),
    Rule(
        start_takes_every_option,
        (
            _with(start=""),
            _with("a: StrOrBytesPath | None = None, *, ", "*, a: StrOrBytesPath | None = None, c: bool | None = None, "),
            _with("int | str | None", "int | None"),
            _with("b: int | str | None = None", 'b: int | str | None = "2GiB"'),
            _with("b: int | str | None = None", "b: int | str | None"),
            _with("    b: a size\n", ""),
            _with("2GiB", "4GiB"),
            _with(session="def session(a: StrOrBytesPath | None = None):\n    pass\n"),
        ),
    ),
    Rule(
        exceptions_have_reasons,
        ({f"{FOLDER}/_a.py": "x = f()  # type: ignore[misc]\n"}, {f"{FOLDER}/_a.py": "x = f()  # noqa\n"}, {f"{FOLDER}/_a.py": "x = f()  # type: ignore  # because\n"}),
    ),
)
