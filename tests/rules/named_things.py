"""Files, types and functions that a comment or a page names exist: files by their bare name, types and functions in backticks.

wording.py has the rule for files that are named with their folder, pages.py the rule for links.
"""

import re

import wording
from sources import Rule, sources

CODE = (".h", ".hpp", ".cc", ".cpp", ".cu", ".c", ".def", ".proto", ".py", ".ts", ".mjs", ".sql", ".cmake", ".txt")
HISTORY = ("CHANGELOG.md", "docs/decisions/")  # they name files and functions of their time

BARE_FILE = re.compile(r"(?<![\w/.<*{}$-])([A-Za-z]\w*\.(?:h|hpp|cc|cpp|def|proto))\b(?![\w/(])")
# Files of other projects and of examples.
FOREIGN_FILES = frozenset(
    "CUDACachingAllocator.cpp VariableTypeManual.cpp cuda_profiler_api.h cusparse.h nvtxInitDecls.h nvtxInitDefs.h nvtxTypes.h profile.proto "
    "profile_common.proto seeded.cc train.cc zstd.h".split()
)

NAME_OF_CODE = re.compile(r"`((?:\w+::)*)([A-Z][a-z]\w*[A-Z]\w*)(?:\(\))?`")
FOREIGN_NAMESPACES = ("torch::", "at::", "c10::", "std::", "absl::")
# Types of other projects.
FOREIGN_NAMES = frozenset("LinearImpl Memoir_PROTO_DIR".split())


def _prose(tree):
    """(source, line, text) of comments and pages, with the code of pages."""
    for folder in wording.read(tree).values():
        for source in folder:
            if source.folder == "tests/rules" or source.path.startswith(HISTORY):
                continue  # seeds name what no tree has
            found = enumerate(source.lines, 1) if source.suffix == ".md" else wording.paragraphs(source)
            yield from ((source, line, text) for line, text in found)


def bare_file_names_exist(tree):
    """A file of C++ or of protobuf that a comment or a page names without its folder is somewhere in the tree."""
    names = {source.path.rpartition("/")[2] for source in sources(tree)} | FOREIGN_FILES
    for source, line, text in _prose(tree):
        yield from (f"{source.path}:{line}: there is no {name}" for name in BARE_FILE.findall(text) if name not in names)


def _without_comments(source):
    if source.suffix in (".py", ".cmake", ".txt"):
        return re.sub(r"#[^\n]*", "", source.text)
    return "\n".join(source.code_lines)


def names_of_code_exist(tree):
    """A type or a function that a comment or a page names in backticks, such as `RingExtent`, is in the code."""
    code = {word for source in sources(tree) if source.suffix in CODE for word in re.findall(r"\w+", _without_comments(source))}
    for source, line, text in _prose(tree):
        for scope, name in NAME_OF_CODE.findall(text):
            if name not in code and name not in FOREIGN_NAMES and not scope.startswith(FOREIGN_NAMESPACES):
                yield f"{source.path}:{line}: nothing in the code is named {name}"


RULES = (
    Rule(bare_file_names_exist, ({"interpose/ring/ring.h": "// A record is defined in nowhere.h.\n"}, {"docs/fit.md": "One row of `nowhere.def` is one event.\n"})),
    Rule(
        names_of_code_exist,
        (
            {"interpose/ring/ring.h": "// The caller of `NoSuchFunction()` holds the lock.\nvoid Ring();  // `NoSuchType`\n"},
            {"docs/glossary.md": "| ring extent | the piece that one thread fills | `NoSuchType` |\n"},
            {"tools/read/part.cc": "// NoSuchType\nint a;\n", "docs/fit.md": "See `memoir::NoSuchType`.\n"},
        ),
    ),
)
