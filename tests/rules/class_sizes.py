"""How much one class may hold, over all the sources that define members of it."""

import dataclasses
import re

from sources import Rule, cxx_sources

MAX_CLASS_LINES = 400
MAX_MEMBER_FUNCTIONS = 30

_CLASS = re.compile(r"(?:template .*)?(?:class|struct)(?: \[\[\w+\]\]| alignas\([^)]*\))? (\w+)(?: final)?(?: : .*)? \{$")
_DEFINITION = re.compile(r"(?:^|[ *&])(\w+)(?:<[^<>]*>)?::(~?\w+|operator[^ (]+)\(")


@dataclasses.dataclass
class Measured:
    lines: int = 0
    functions: set = dataclasses.field(default_factory=set)  # defined outside of the class


def blocks(source):
    """(first lines up to the brace or semicolon, number of lines) of each declaration and definition at the level of a namespace.

    Works on the indentation that the formatter gives: a block ends at the first line that begins with `}`.
    """
    lines = iter(source.code_lines)
    for line in lines:
        if not re.match(r"[\w:<&*~]", line) or line.startswith(("namespace", "inline namespace", 'extern "C"')):
            continue
        head, count = line.rstrip(), 1
        while not head.endswith(("{", "}", ";")) and (line := next(lines, None)) is not None:
            head, count = f"{head} {line.strip()}", count + 1
        total = count
        if head.endswith("{"):
            for line in lines:
                total += 1
                if line.startswith("}"):
                    break
        yield head, total


def classes(tree):
    """(product folder, class) -> Measured. Classes of two products may share a name."""
    found = {}
    for source in cxx_sources(tree):
        if source.path.startswith("tests/"):
            continue
        product = "/".join(source.path.split("/")[:2])
        for head, lines in blocks(source):
            declared, defined = _CLASS.match(head), _DEFINITION.search(head)
            if not declared and not (defined and head.endswith(("{", "}"))):
                continue
            measured = found.setdefault((product, (declared or defined).group(1)), Measured())
            measured.lines += lines
            if not declared:
                measured.functions.add(head)
    return found


def classes_are_small(tree):
    """A class that is spread over many sources is still one class: all its lines and functions are held in mind together."""
    for (product, name), measured in sorted(classes(tree).items()):
        if measured.lines > MAX_CLASS_LINES:
            yield f"{product}: class {name}: {measured.lines} lines in all its sources, more than {MAX_CLASS_LINES}"
        if len(measured.functions) > MAX_MEMBER_FUNCTIONS:
            yield f"{product}: class {name}: {len(measured.functions)} functions in all its sources, more than {MAX_MEMBER_FUNCTIONS}"


def _sources(folder, functions, lines):
    """Returns the sources of a class with `functions` functions of `lines` lines. Each source defines one function."""
    body = "  ++x_;\n" * (lines - 2)
    return {f"{folder}/part{n}.cc": f"namespace memoir {{\n\nvoid Part::Do{n}(int x) {{\n{body}}}\n\n}}\n" for n in range(functions)}


RULES = (Rule(classes_are_small, (_sources("tools/read", MAX_MEMBER_FUNCTIONS + 1, 3), _sources("tools/read", 5, 81))),)
