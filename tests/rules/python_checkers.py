"""mypy and ruff over the Python package, as pyproject.toml configures them. They run in the interpreter that runs this; setup/requirements.txt has them."""

import pathlib
import subprocess
import sys

from sources import Rule

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "python"


def complaints(tree, *command):
    """The findings of `python -m COMMAND` in the package in `tree`, one line each. Raises if it failed."""
    done = subprocess.run([sys.executable, "-m", *command, PACKAGE], cwd=tree, capture_output=True, text=True)
    said = done.stdout.splitlines()
    if done.returncode not in (0, 1) or bool(said) != (done.returncode == 1):
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return said


def types_are_right(tree):
    """mypy --strict has nothing to say."""
    cache = ROOT / "build" / "mypy"  # of the seeded trees as well: what mypy knows of Python's library is the same
    yield from complaints(tree, "mypy", "--strict", "--no-error-summary", "--config-file", ROOT / "pyproject.toml", "--cache-dir", cache)


def lint_is_clean(tree):
    """ruff has nothing to say."""
    yield from complaints(tree, "ruff", "check", "--quiet", "--no-cache", "--output-format", "concise", "--config", ROOT / "pyproject.toml")


def _package(text):
    return {f"{PACKAGE}/memoir/__init__.py": text}


RULES = (
    Rule(
        types_are_right,
        (
            _package("def start(output):\n    return output\n"),
            _package("def start(output: str) -> int:\n    return output\n"),
            _package("import torch\n\n\ndef start() -> int:\n    return torch.version\n"),
        ),
    ),
    Rule(lint_is_clean, (_package("import os\n"), _package("print(f'nothing')\n"), _package("import sys\nimport os\n\nprint(os, sys)\n"))),
)
