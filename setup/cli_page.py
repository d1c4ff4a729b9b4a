"""docs/cli.md, made from the program's own help: python3 setup/cli_page.py build/install/bin/memoir > docs/cli.md"""

import pathlib
import re
import subprocess
import sys

INTRODUCTION = """# Command line

This page lists every verb and option of the `memoir` program.

It is made from `memoir --help` and `memoir VERB --help`, and not edited by hand:
`python3 setup/cli_page.py build/install/bin/memoir > docs/cli.md`.
"""


def help_of(program, *words):
    """As it is printed on a terminal of 100 columns."""
    environment = {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True, env=environment).stdout.strip("\n")


def verbs(text):
    """Those that `memoir --help` lists, in its order."""
    return re.findall(r"^  ([a-z]+) {2,}\S", text, re.MULTILINE)


def page(program):
    overview = help_of(program)
    parts = [INTRODUCTION, f"```\n{overview}\n```\n"]
    for verb in verbs(overview):
        parts.append(f"## memoir {verb}\n\n```\n{help_of(program, verb)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(pathlib.Path(sys.argv[1])), end="")
