"""Maps lines of generated code to the operations of the program: inductor's files, and functions that torch.fx makes of a graph.

The tables go into the recording as texts (docs/event_schema.md, "torch.compile"), so that a reader of the capture does not need the files. The operations come
from one of three sources:

- For a file that inductor has just written: the buffers of its graph.
- For a file from inductor's cache: the cache entry, which has one operation for each line, and comments in the file, which name the other operations.
- For a function of torch.fx: the nodes of its graph. They are read when the compilation ends.
"""

from __future__ import annotations

import re
import sys
import weakref

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType
    from typing import Any

    # File, function, line.
    Place = tuple[str, str, int]
    # An operation of the program: root, path and class of its module; its name; its frames, outermost first.
    Origin = tuple[str, str, str, str, tuple[Place, ...]]
    Rows = list[tuple[int, list[Origin]]]  # (line of the generated code, its origins), valid up to the next row; no origins: the lines belong to no operation

_MOST_BYTES = 1000  # length of a text; the recorder cuts longer texts at 1024
_MOST_IN_ALL = 4 << 20  # length of all texts of a recording; later code is recorded without a table
_MOST_ORIGINS = 16  # origins of a line
_MOST_FRAMES = 12  # frames of an origin, the innermost
_MOST_GRAPHS = 256  # graphs that wait for the end of their compilation
_MOST_TRACES = 20_000
_LONGEST = 300  # characters of a path

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\n]+)\n')
_ASSIGNED = re.compile(r"\s+(\w+) = ")
_OUT = re.compile(r"\bout=(?:reinterpret_tensor\()?(\w+)")
_NAME = re.compile(r"\bbuf\d+\b")
_SOURCES = re.compile(r"# Topologically Sorted Source Nodes: \[([^\]]*)\]")


class CompiledCode:
    """The tables of one recording's compiled code. `send` takes a text."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._left = _MOST_IN_ALL
        self._graphs: dict[str, weakref.ref[Any]] = {}  # by the name of their file, until they are noted
        self._noted: set[str] = set()  # inductor's files
        self._sources: dict[str, Origin] = {}  # operations of the newest graph of dynamo, by the name of their node
        self._modules: dict[str, set[tuple[str, str, str]]] = {}  # modules of dynamo's nodes, by the node's stack
        self._functions: dict[str, list[tuple[int, int, str]]] = {}  # by file: first line, last line, qualified name

    def dynamo_made(self, graph: Any) -> None:
        """Called when dynamo passes a graph to a backend."""
        self._sources.clear()
        for node in graph.nodes:
            origin = self.origin_of(node)
            if origin is None:
                continue
            self._sources[node.name] = origin
            trace = node.meta.get("stack_trace")
            if trace and (trace in self._modules or len(self._modules) < _MOST_TRACES):
                self._modules.setdefault(trace, set()).add(origin[:3])

    def loaded(self) -> None:
        """Called when inductor has run new files, which are then in its PyCodeCache."""
        cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
        linemaps: dict[str, Any] = getattr(cache, "linemaps", {})
        for path in reversed(linemaps):
            if path in self._noted:
                break
            self._noted.add(path)
            self._note_file(path, linemaps[path])

    def _note_file(self, path: str, linemap: Any) -> None:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().split("\n")
        except OSError:
            lines = []  # already deleted: the cache's entry has one origin a line
        graph = getattr(getattr(sys.modules.get("torch._inductor.virtualized"), "V", None), "graph", None)
        buffers = getattr(graph, "name_to_buffer", None)
        rows = self._rows_of_graph(lines, buffers) if buffers and lines else self._rows_of_cached(lines, linemap)
        self.note(path, rows)

    def _rows_of_graph(self, lines: list[str], buffers: Any) -> Rows:
        rows: Rows = []
        inside = False
        order: dict[Any, int] = {}
        for number, line in enumerate(lines, 1):
            inside, ended = _inside(line, inside)
            if ended:
                rows.append((number, []))
            if not inside:
                continue
            found = _ASSIGNED.match(line) or _OUT.search(line)
            buffer = buffers.get(found[1]) if found else None
            origins = self._origins_of_buffer(buffer, order) if buffer is not None else []
            if origins:
                rows.append((number, origins))
        return rows

    def _origins_of_buffer(self, buffer: Any, order: dict[Any, int]) -> list[Origin]:
        nodes = list(getattr(buffer, "origins", ()))
        for node in nodes:
            if node not in order:
                order.update({other: at for at, other in enumerate(node.graph.nodes)})
        nodes.sort(key=lambda node: order.get(node, 0), reverse=True)
        own = getattr(buffer, "origin_node", None)
        if own is not None:
            nodes = [own, *(node for node in nodes if node is not own)]
        return _distinct(self.origin_of(node) for node in nodes)

    def _rows_of_cached(self, lines: list[str], linemap: Any) -> Rows:
        rows: dict[int, list[Origin]] = {}
        for number, trace in zip(*linemap, strict=True) if linemap else ():
            rows[number] = self._origins_of_trace(trace)
        last = max(rows, default=0)
        # False if CUDA graphs partition the code. Then the comments are used even if they name an origin that is not known.
        is_mapped = bool(rows)
        waiting: dict[str, int] = {}  # buffers that no kernel was called with yet
        inside = False
        names: list[str] = []
        for number, line in enumerate(lines, 1):
            inside, ended = _inside(line, inside)
            if ended and number > last:
                rows[number] = []
            if not inside:
                continue
            comment = _SOURCES.search(line)
            if comment:
                names = [name.strip() for name in comment[1].split(",") if name.strip()]
                continue
            assigned = _ASSIGNED.match(line)
            if assigned and "empty_strided" in line:
                waiting[assigned[1]] = number
                continue
            used = {name: waiting.pop(name) for name in set(_NAME.findall(line)) if name in waiting}
            origins = _distinct(self._sources.get(name) for name in reversed(names))
            if origins and (len(origins) == len(set(names)) or not is_mapped):
                for at in [*used.values(), number]:
                    rows[at] = origins
            if "(" in line and not line.lstrip().startswith("#"):
                names = []
        return sorted(rows.items())

    def _origins_of_trace(self, trace: str | None) -> list[Origin]:
        frames = self._frames(trace)
        if not frames:
            return []
        modules = self._modules.get(trace or "", set())
        root, path, kind = next(iter(modules)) if len(modules) == 1 else ("", "", "")
        return [(root, path, kind, "", frames)]

    def recompiled(self, module: Any) -> None:
        """Called when a graph module has new code."""
        code: CodeType | None = getattr(getattr(type(module), "forward", None), "__code__", None)
        if code is None or not code.co_filename.startswith("<eval_with_key>"):
            return
        while len(self._graphs) >= _MOST_GRAPHS:
            del self._graphs[next(iter(self._graphs))]
        self._graphs[code.co_filename] = weakref.ref(module)

    def note_graphs(self) -> None:
        """Notes the graphs that are still alive: they may be called."""
        graphs, self._graphs = self._graphs, {}
        for name, reference in graphs.items():
            module = reference()
            code: CodeType | None = getattr(getattr(type(module), "forward", None), "__code__", None)
            if code is not None and code.co_filename == name:
                self.note(name, self._rows_of_module(module, code.co_firstlineno))

    def forget_graphs(self) -> None:
        """Drops the graphs that became inductor's code."""
        self._graphs.clear()

    def _rows_of_module(self, module: Any, first: int) -> Rows:
        nodes = list(module.graph.nodes)
        rows: Rows = []
        before: int | None = None
        for line, node in sorted((getattr(module, "_lineno_map", None) or {}).items()):
            if node == before:
                continue
            before = node
            origin = self.origin_of(nodes[node]) if node is not None and node < len(nodes) else None
            rows.append((first + line, [origin] if origin is not None else []))
        return rows if any(origins for _, origins in rows) else []

    def origin_of(self, node: Any) -> Origin | None:
        frames = self._frames(node.meta.get("stack_trace"))
        stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
        if not frames and not stack:
            return None
        operation = node.meta.get("original_aten") or node.target
        name = getattr(operation, "__name__", None) if not isinstance(operation, str) else operation
        return (*_module(stack), str(operation) if "aten" in str(operation) else str(name or ""), frames)

    def _frames(self, trace: str | None) -> tuple[Place, ...]:
        found = [(file, int(line), function) for file, line, function in _FRAME.findall(trace or "")][-_MOST_FRAMES:]
        return tuple((_plain(file), self.qualified(file, line, function), line) for file, line, function in found)

    def qualified(self, file: str, line: int, function: str) -> str:
        """Turns "forward" into "Block.forward", if a loaded module of the file has the function."""
        spans = self._functions.get(file)
        if spans is None or not any(name.rpartition(".")[2] == function for _, _, name in spans):
            spans = self._functions[file] = list(_functions(file))
        fitting = [(last - first, name) for first, last, name in spans if first <= line <= last and name.rpartition(".")[2] == function]
        return _plain(min(fitting)[1] if fitting else function)

    def note(self, file: str, rows: Rows) -> None:
        for text in _texts(_plain(file), rows):
            self._left -= len(text)
            if self._left < 0:
                return
            self._send(text)


def _inside(line: str, inside: bool) -> tuple[bool, bool]:
    """Returns whether the line belongs to a function that runs the buffers of the graph, and whether such a function ends with it."""
    text = line.strip()
    if text.startswith(("def call(", "def partition_")):
        return True, False
    return (False, True) if inside and text.startswith("return") else (inside, False)


def _distinct(origins: Iterable[Origin | None]) -> list[Origin]:
    found = dict.fromkeys(origin for origin in origins if origin is not None)
    return list(found)[:_MOST_ORIGINS]


def _plain(text: str) -> str:
    return re.sub(r"[\t\n\r]", " ", text)[-_LONGEST:]


def _module(stack: Any) -> tuple[str, str, str]:
    """Root, path and class of the innermost module; dynamo's names if the recording has no name."""
    if not stack:
        return "", "", ""
    entries = list(stack.items())
    (_, (first, _)), (key, (path, kind)) = entries[0], entries[-1]
    module = kind if isinstance(kind, str) else kind.__name__
    names = getattr(sys.modules.get("_torch_memoir.modules._module_names"), "current", None)
    address = key.partition("@")[0] if isinstance(key, str) else ""
    known = getattr(names, "_known", {}).get(int(address)) if address.isdigit() else None  # modules by address
    if known is not None and known.number != 0:
        return _plain(known.root), _plain(known.path), _plain(module)
    inner = re.sub(r"^[LG]\['\w+'\]\.?|\b_orig_mod\.?", "", path)
    if re.fullmatch(r"[LG]\['\w+'\]", first) and first != "L['self']":  # the outermost module is a variable of the compiled function, so it is a root
        kind = entries[0][1][1]
        return _plain(kind if isinstance(kind, str) else kind.__name__), _plain(inner), _plain(module)
    return "", _plain(inner), _plain(module)


def _functions(file: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line and qualified name of a file's functions, found in loaded modules."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) != file:
            continue
        todo = [vars(module)]
        for names in todo:
            for value in list(names.values()):
                if isinstance(value, type) and value.__module__ == module.__name__ and len(todo) < 10_000:
                    todo.append(dict(vars(value)))
                function = getattr(value, "__func__", getattr(value, "fget", value))
                function = getattr(function, "__wrapped__", function)
                code: CodeType | None = getattr(function, "__code__", None)
                if code is not None and code.co_filename == file:
                    yield from _codes(code, getattr(function, "__qualname__", code.co_name))


def _codes(code: CodeType, name: str) -> Iterator[tuple[int, int, str]]:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    yield code.co_firstlineno, max(lines, default=code.co_firstlineno), getattr(code, "co_qualname", name)
    for constant in code.co_consts:
        if hasattr(constant, "co_lines"):
            yield from _codes(constant, f"{name}.<locals>.{constant.co_name}")


def _texts(file: str, rows: Rows) -> Iterator[str]:
    """Splits the table into texts of at most _MOST_BYTES, each readable without the others."""
    text = _Text(file)
    for line, origins in rows:
        if text.add(line, origins):
            continue
        if text.rows:
            yield str(text)
            text = _Text(file)
        fitting = origins
        while not text.add(line, fitting) and fitting:
            fitting = fitting[:-1] if len(fitting) > 1 else [(*fitting[0][:4], fitting[0][4][1:])] if fitting[0][4] else []
    if text.rows:
        yield str(text)


class _Text:
    def __init__(self, file: str) -> None:
        self.head = f"code\t{file}"
        self.texts: dict[str, int] = {"": 0}
        self.origins: dict[Origin, int] = {}
        self.rows: list[str] = []
        self._bytes = len(self.head.encode("utf-8", "replace")) + 16

    def add(self, line: int, origins: list[Origin]) -> bool:
        """Returns false, and changes nothing, if there is no room."""
        texts, known, rows = dict(self.texts), dict(self.origins), []
        for origin in origins:
            if origin in known:
                continue
            words = [*origin[:4], *(word for place in origin[4] for word in place[:2])]
            new = [word for word in dict.fromkeys(words) if word not in texts]
            if new:
                rows.append("\t".join(["t", *new]))
                texts.update({word: len(texts) + at for at, word in enumerate(new)})
            numbers = [texts[word] for word in origin[:4]]
            for place in origin[4]:
                numbers += [texts[place[0]], texts[place[1]], place[2]]
            rows.append("\t".join(["o", *map(str, numbers)]))
            known[origin] = len(known)
        rows.append("\t".join(["l", str(line), *(str(known[origin]) for origin in origins)]))
        size = self._bytes + sum(len(row.encode("utf-8", "replace")) + 1 for row in rows)
        if size > _MOST_BYTES:
            return False
        self.texts, self.origins, self._bytes = texts, known, size
        self.rows += rows
        return True

    def __str__(self) -> str:
        return "\n".join([self.head, *self.rows])
