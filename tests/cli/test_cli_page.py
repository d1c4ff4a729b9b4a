"""docs/cli.md is what the program's help says."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "setup"))

import cli_page  # noqa: E402


def test_the_page_is_the_help():
    program = os.environ["MEMOIR_PROGRAM"]
    verbs = cli_page.verbs(cli_page.help_of(program))
    assert {"run", "show", "check", "fit", "explain", "export", "symbolize", "doctor"} <= set(verbs)
    assert (ROOT / "docs" / "cli.md").read_text() == cli_page.page(program), f"python3 setup/cli_page.py {program} > docs/cli.md"
