"""Decides which sources of a target are compiled together, as one file that includes them: reading headers takes most of a build's time.

    compile_together.py TARGETS GROUPS

TARGETS has a line for each target: its name and its sources, separated by `|`. GROUPS gets a line for each group of two and more: target, name of the group,
sources. Two sources are never in one group if a private name of the first (in an unnamed namespace, a constant, a macro) is a word of the second, or of a
header that only the second includes. So sources may name their own things as they like.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
MOST_LINES = 1800   # in a group, which takes up to 40 s to compile
MOST_SOURCES = 12

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\n]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
OURS = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|[{}();=\[<>]")
INTERNAL = re.compile(r"static\b|[^(]*\bconst(?:expr)?\b[^(]*(?:=|$)")   # a static function, a constant
TYPE = re.compile(r"\b(?:struct|class|union|enum(?: class| struct)?) (?:alignas \( [^)]*\) )?(\w+)")
DECLARED = re.compile(r"(?<!:: )\b(?!(?:alignas|const|decltype|void) )(\w+) (?=[(=\[]|$)")
NO_NAMES = {"const", "noexcept", "operator", "requires", "sizeof", "static", "TEST", "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"}


@functools.cache
def text_of(path):
    return pathlib.Path(path).read_text(errors="replace")


@functools.cache
def words(path):
    return set(re.findall(r"[A-Za-z_]\w*", NO_CODE.sub(" ", text_of(path))))


@functools.cache
def private_names(path):
    """The names that a source keeps to itself."""
    code = NO_CODE.sub(" ", text_of(path))
    names = set(MACRO.findall(code))
    for statement, is_unnamed in statements(DIRECTIVE.sub("", code)):
        if is_unnamed or INTERNAL.match(statement):
            names |= declared_names(statement)
    return names - NO_NAMES


def statements(code):
    """Yields each statement of a namespace up to its brace or semicolon, and whether the namespace or one around it is unnamed."""
    open_scopes = []   # a namespace: whether it is unnamed; another: None
    tokens = []
    for token in TOKEN.findall(code):
        in_namespace = None not in open_scopes
        if token == "{":
            statement = " ".join(tokens)
            if in_namespace and tokens[:1] in (["namespace"], ["inline"], ["extern"]) and "(" not in tokens:
                open_scopes.append(tokens == ["namespace"])
            else:
                if in_namespace:
                    yield statement, True in open_scopes
                open_scopes.append(None)
            tokens = []
        elif token == "}":
            if open_scopes:
                open_scopes.pop()
            tokens = []
        elif token == ";":
            if in_namespace and tokens:
                yield " ".join(tokens), True in open_scopes
            tokens = []
        elif in_namespace:
            tokens.append(token)


def declared_names(statement):
    if statement.startswith("using"):
        return set(re.findall(r"^using (\w+) =", statement))
    statement = without_template(statement)
    if TYPE.match(statement):
        return {TYPE.match(statement).group(1)}
    before_value = DECLARED.findall(statement + " ")
    return set(before_value if "(" not in statement.split("=")[0] else before_value[:1])


def without_template(statement):
    """`template < class T > T Twice ( T x )` without its first four words."""
    while statement.startswith("template <"):
        depth = 0
        for position, character in enumerate(statement):
            depth += (character == "<") - (character == ">")
            if character == ">" and depth == 0:
                break
        statement = statement[position + 1:].lstrip()
    return statement


def stands_alone(path):
    """Whether a source changes what others mean: it defines a macro before it includes headers, or uses all names of a namespace."""
    macro, include = MACRO.search(text_of(path)), INCLUDE.search(text_of(path))
    return bool(macro and include and macro.start() < include.start()) or "\nusing namespace " in text_of(path)


@functools.cache
def headers(path):
    """The project's headers that a file includes, and those that they include."""
    found = set()
    for name in OURS.findall(text_of(path)):
        if (ROOT / name).exists():
            found |= {str(ROOT / name)} | headers(str(ROOT / name))
    return found


def go_together(one, other):
    return disturbs_not(one, other) and disturbs_not(other, one)


def disturbs_not(one, other):
    """Whether the private names of `one` mean nothing in `other`, nor in the headers that only `other` includes."""
    return all(private_names(one).isdisjoint(words(path)) for path in [other, *(headers(other) - headers(one))])


def groups_of(sources):
    groups = []
    for source in sorted(sources, key=lambda path: (str(pathlib.Path(path).parent), path)):
        lines = text_of(source).count("\n")
        for group in groups if not stands_alone(source) else []:
            if group["lines"] + lines <= MOST_LINES and len(group["sources"]) < MOST_SOURCES and all(go_together(source, x) for x in group["sources"]):
                group["lines"] += lines
                group["sources"].append(source)
                break
        else:
            groups.append({"lines": lines if not stands_alone(source) else MOST_LINES, "sources": [source]})
    return [group["sources"] for group in groups if len(group["sources"]) > 1]


def main(targets, groups):
    with open(groups, "w") as out:
        for line in pathlib.Path(targets).read_text().splitlines():
            target, *sources = line.split("|")
            for group in groups_of(sources):
                name = f"{pathlib.Path(group[0]).stem}_and_{len(group) - 1}_more"
                out.write("|".join([target, name, *group]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
