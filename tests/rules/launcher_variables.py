"""The variables by which launchers tell a rank are one table, of which the Python package has a copy: it must not lag behind."""

import re

from sources import Rule

TABLE = "proto/memoir/launchers.def"
COPY = "python/memoir/_processes.py"


def copies_have_every_launcher(tree):
    """Python's list is MEMOIR_RANK and the rank variables of launchers.def, in their order."""
    table = (tree / TABLE).read_text() if (tree / TABLE).exists() else ""
    copy = (tree / COPY).read_text() if (tree / COPY).exists() else ""
    wanted = ["MEMOIR_RANK"] + re.findall(r'^MEMOIR_LAUNCHER\("[^"]*", "(\w+)"', table, re.MULTILINE)
    listed = re.search(r"^_RANK_VARIABLES = \((.*)\)$", copy, re.MULTILINE)
    found = re.findall(r'"(\w+)"', listed.group(1)) if listed else []
    if found != wanted:
        yield f"{COPY}: lists {', '.join(found)}; {TABLE} has {', '.join(wanted)}"


RULES = (
    Rule(
        copies_have_every_launcher,
        (
            {TABLE: 'MEMOIR_LAUNCHER("a", "A_RANK", "A_SIZE", false)\n', COPY: '_RANK_VARIABLES = ("MEMOIR_RANK", "B_RANK")\n'},
            {TABLE: 'MEMOIR_LAUNCHER("a", "A_RANK", "A_SIZE", false)\n', COPY: '_RANK_VARIABLES = ("A_RANK", "MEMOIR_RANK")\n'},
        ),
    ),
)
