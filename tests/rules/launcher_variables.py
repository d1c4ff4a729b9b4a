"""The variables by which launchers tell a rank are one table, of which the Python package has a copy: it must not lag behind."""

import re

from sources import Rule

TABLE = "proto/memoir/launchers.def"
COPY = "python/_torch_memoir/processes/_launchers.py"


def copies_have_every_launcher(tree):
    """Python's list is the rank variables of launchers.def and what makes each count for nothing, in their order."""
    table = (tree / TABLE).read_text() if (tree / TABLE).exists() else ""
    copy = (tree / COPY).read_text() if (tree / COPY).exists() else ""
    wanted = re.findall(r'^MEMOIR_LAUNCHER\("[^"]*", "(\w+)", "\w*", "(\w*)"\)', table, re.MULTILINE)
    listed = re.search(r"^_LAUNCHERS_RANKS = \((.*?)^\)$", copy, re.MULTILINE | re.DOTALL)
    found = re.findall(r'\("(\w+)", "(\w*)"\)', listed.group(1)) if listed else []
    if found != wanted:
        yield f"{COPY}: lists {found}; {TABLE} has {wanted}"


_ROW = 'MEMOIR_LAUNCHER("a", "A_RANK", "A_SIZE", "B_ID")\n'

RULES = (
    Rule(
        copies_have_every_launcher,
        (
            {TABLE: _ROW, COPY: '_LAUNCHERS_RANKS = (\n    ("B_RANK", "B_ID"),\n)\n'},
            {TABLE: _ROW, COPY: '_LAUNCHERS_RANKS = (\n    ("A_RANK", ""),\n)\n'},
            {TABLE: _ROW, COPY: ""},
        ),
    ),
)
