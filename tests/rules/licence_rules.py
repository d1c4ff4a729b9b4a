"""Licences of what others wrote and Memoir ships: each is one that was looked at, and each component is named in NOTICE."""

import ast
import json
import re

from sources import Rule

TABLE = "setup/components.py"
LOCK = "tools/web/package-lock.json"
ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Bitstream-Vera", "ISC", "LicenseRef-public-domain", "MIT", "Unlicense", "Zlib", "blessing",
    "bzip2-1.0.6", "Apache-2.0 WITH LLVM-exception", "GPL-3.0-or-later WITH GCC-exception-3.1",
    "LGPL-3.0-or-later OR GPL-2.0-or-later",  # elfutils, in a separate program whose sources are open: docs/packaging/dependencies.md
}


def refused(expression):
    """The licences of an SPDX expression that are not allowed: one alternative of OR suffices, AND needs all."""
    if expression in ALLOWED:
        return []
    parts = [part.strip(" ()") for part in expression.split(" AND ")]
    return [part for part in parts if part not in ALLOWED and not any(choice.strip(" ()") in ALLOWED for choice in part.split(" OR "))]


def shipped(tree):
    """(file, name, licence) of every component that the table and the page's lock file have."""
    if (tree / TABLE).exists():
        for statement in ast.parse((tree / TABLE).read_text()).body:
            for value in ast.walk(statement):
                if isinstance(value, ast.Tuple) and len(value.elts) >= 2 and statement.targets[0].id != "DECLARATIONS":
                    yield TABLE, value.elts[0].value, value.elts[1].value
    if (tree / LOCK).exists():
        for path, package in json.loads((tree / LOCK).read_text())["packages"].items():
            if path and not package.get("dev"):
                yield LOCK, path.removeprefix("node_modules/"), package.get("license", "none named")


def licences_are_allowed(tree):
    """A licence that is new here is read by a person before it is shipped, and then added to ALLOWED."""
    for file, name, licence in shipped(tree):
        yield from (f"{file}: {name}: {part} is not in the allow-list of tests/rules/licence_rules.py" for part in refused(licence))


def notice_has_each_component(tree):
    """A package of Memoir's programs has the notices of the libraries in them."""
    notice = (tree / "NOTICE").read_text() if (tree / "NOTICE").exists() else ""
    listed = set(re.findall(r"^  (\S+(?: \S+)*)  ", notice, re.MULTILINE))
    for file, name, _ in shipped(tree):
        if name.lower() not in {entry.lower() for entry in listed}:
            yield f"{file}: {name} is not in NOTICE"


def _table(licence):
    return {TABLE: f'LIBRARIES = {{"library": ("Library", "{licence}")}}\n', "NOTICE": "  Library   x\n"}


RULES = (
    Rule(
        licences_are_allowed,
        (
            _table("AGPL-3.0-only"),
            _table("MIT AND SSPL-1.0"),
            _table("GPL-3.0-only"),
            {LOCK: '{"packages": {"": {}, "node_modules/curves": {"version": "1.0.0", "license": "CC-BY-NC-4.0"}}}'},
            {LOCK: '{"packages": {"node_modules/curves": {"version": "1.0.0"}}}'},
        ),
    ),
    Rule(notice_has_each_component, ({TABLE: _table("MIT")[TABLE]}, {LOCK: '{"packages": {"node_modules/curves": {"license": "MIT"}}}', "NOTICE": "  Curve   x\n"})),
)
