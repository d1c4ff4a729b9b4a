"""The records of each way to attach: the table below, cell by cell, which docs/attaching.md prints.

To write the table into the document: MEMOIR_UPDATE_GOLDEN=1.
"""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from recording import counts, events, run_memoir, show

TIERS = ["preload", "environment", "package", "explicit", "C interface"]
TABLE = {
    "operators and CPU allocations, steps and marks": ["yes", "yes", "yes", "yes", "yes"],
    "all since torch was imported": ["yes", "yes", "yes", "from `memoir.start()` on", "from `memoir_start` on"],
    "child processes that import torch": ["yes", "yes", "yes", "no", "no"],
    "`python -I` and `-E`": ["no", "no", "yes", "yes", "-"],
    "the last events of a killed process": ["when the command ends"] + ["at the next `memoir show`"] * 4,
    "a summary when the program ends": ["yes", "no", "no", "no", "no"],
}
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "attaching.md"
BEGIN, END = "<!-- tests/integration/test_tiers.py writes what follows -->\n", "<!-- until here -->\n"

# Multiplies before memoir.start(), adds three times, and where it is to be killed lets a child subtract first.
PROGRAM = '''
import os, signal, subprocess, sys
import torch
torch.mul(torch.ones(10), 2)
if "explicit" in sys.argv:
    import memoir
    memoir.start(sys.argv[1])
else:
    try:
        import memoir
    except ImportError:  # python -I and -E
        memoir = None
total = torch.ones(1000)
for _ in range(3): total = torch.add(total, 1)
if memoir: memoir.step(7); memoir.mark("here")
if "kill" in sys.argv:
    assert subprocess.run([sys.executable, "-c", "import torch; torch.sub(torch.ones(3), 1)"]).returncode == 0
    os.kill(os.getpid(), signal.SIGKILL)
'''


def printed():
    rows = [["", *TIERS]] + [[feature, *cells] for feature, cells in TABLE.items()]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * (len(TIERS) + 1))
    return "\n".join(lines).replace("|  |", "| |") + "\n"


def test_the_document_prints_the_table():
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    if "MEMOIR_UPDATE_GOLDEN" in os.environ:
        DOCUMENT.write_text(before + BEGIN + printed() + END + after)
    else:
        assert table == printed()


def clean():
    return {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTHON", "LD_PRELOAD"))}


@pytest.fixture(scope="module")
def package(tree, tmp_path_factory):
    """An environment in which Memoir is installed as pip does it: found through site-packages, not through a variable."""
    root = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    site, = root.glob("lib/python*/site-packages")
    ours, = pathlib.Path(sys.prefix).glob("lib/python*/site-packages")
    (site / "torch_and_memoir.pth").write_text(f"{ours}\n{tree}/lib/memoir/python\n")
    return root / "bin" / "python"


@pytest.fixture(scope="module")
def libtorch_program(tree, tmp_path_factory):
    """Built as a user would: against torch's wheel and the installed tree."""
    import torch

    root, torch_folder = pathlib.Path(__file__).resolve().parents[2], pathlib.Path(torch.__file__).parent
    tracker, = (tree / "lib" / "memoir").glob(f"libmemoir_tracker-torch{'.'.join(torch.__version__.split('.')[:2])}.so")
    program = tmp_path_factory.mktemp("libtorch") / "program"
    libraries = [tree / "lib" / "memoir", torch_folder / "lib"]
    command = ["g++", "-std=c++20", "-O0", "-DNDEBUG", f"-I{root}", "-isystem", torch_folder / "include",
               root / "tests" / "integration" / "libtorch_program.cc", "-o", program, tracker,
               *(f"-L{folder}" for folder in libraries), *(f"-Wl,-rpath,{folder}" for folder in libraries),
               "-Wl,--no-as-needed", "-lmemoir_interpose", "-ltorch_cpu", "-lc10", "-Wl,--allow-shlib-undefined"]
    subprocess.run(list(map(str, command)), check=True)
    return program


class Tier:
    """One way to attach: runs the program above, and returns its records."""

    def __init__(self, name, tree, folder, package, libtorch_program):
        self.name, self.tree, self.folder = name, tree, folder
        self.package, self.libtorch_program = package, libtorch_program
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)

    def run(self, name, *options, kill=False):
        capture, arguments = self.folder / name, ["kill"] * kill
        python = [sys.executable, *options, self.program, capture, *arguments]
        installed = [self.package, *options, self.program, capture, *arguments]
        if self.name == "preload":
            done = run_memoir(self.tree, "run", "-o", capture, "--", *python, env=clean())
            assert done.returncode == (-signal.SIGKILL if kill else 0), done.stderr
            return capture, done
        if self.name == "environment":
            script = f'eval "$("{self.tree}/bin/memoir" run --print-env -o "{capture}")"; exec "$@"'
            command, environment = ["sh", "-c", script, "sh", *python], clean()
        elif self.name == "package":
            command, environment = installed, {**clean(), "MEMOIR_ENABLE": "1", "MEMOIR_OUTPUT": str(capture)}
        elif self.name == "explicit":
            command, environment = [*installed, "explicit"], clean()
        else:
            command, environment = [self.libtorch_program, capture, *arguments], clean()
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == (-signal.SIGKILL if kill else 0), done.stderr
        return capture, done

    def observe(self):
        killed, done = self.run("killed", kill=True)
        merged = run_memoir(self.tree, "show", killed)
        when = ("when the command ends" if "were merged" in done.stderr else
                "at the next `memoir show`" if "were merged" in merged.stderr else "never")
        report, found = show(self.tree, killed), counts(show(self.tree, killed))
        recorded = events(self.tree, killed)
        complete = (found["aten::add.Tensor"] == 3 and report["devices"][0]["allocated_bytes"] >= 16000 and
                    [e["step"] for e in recorded if e["event"] == "step"] == [7] and
                    len([e for e in recorded if e["event"] == "mark"]) == 1)
        in_c = self.name == "C interface"
        whole = "yes" if "aten::mul.Tensor" in found else "from `memoir_start` on" if in_c else "from `memoir.start()` on"
        ended, done = self.run("ended")
        isolated = "-" if in_c else self.isolated()
        return ["yes" if complete else "no", whole, "yes" if "aten::sub.Tensor" in found else "no", isolated, when,
                "yes" if " recorded" in done.stderr and "memoir: tables " in done.stderr else "no"]

    def isolated(self):
        recorded = set()
        for option in ("-I", "-E"):
            capture, _ = self.run(option, option)
            parts = capture.exists() and any(path.suffix == ".memoir" for path in capture.iterdir())
            recorded.add("yes" if parts and "aten::add.Tensor" in counts(show(self.tree, capture)) else "no")
        result, = recorded
        return result


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("name", TIERS)
def test_what_a_tier_records(tree, tmp_path, request, name):
    package = request.getfixturevalue("package") if name in ("package", "explicit") else None
    program = request.getfixturevalue("libtorch_program") if name == "C interface" else None
    observed = Tier(name, tree, tmp_path, package, program).observe()
    expected = [cells[TIERS.index(name)] for cells in TABLE.values()]
    assert dict(zip(TABLE, observed)) == dict(zip(TABLE, expected))
