"""Every command of skills/memoir/SKILL.md runs, in the page's order, and says something."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "skills" / "memoir" / "SKILL.md"
PROGRAM = '''
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
batch = parser.parse_args().batch
device = "cuda" if torch.cuda.is_available() else "cpu"
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(3))
        self.head = torch.nn.Linear(64, 8)
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)
net = Net().to(device)
optimizer = torch.optim.AdamW(net.parameters())
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(batch, 64, device=device)).sum().backward()
    optimizer.step()
'''
SILENT = re.compile(r"memoir run -q ")   # prints nothing if nothing is wrong
LINES = [line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S) for line in block.splitlines()]
COMMANDS = [line.partition("  #")[0].strip() for line in LINES]


def exit_codes(line):
    said = re.search(r"# .*exits with (\d)(?: or (\d))?", line)
    return {int(code) for code in said.groups() if code} if said else {0}


@pytest.fixture(scope="module")
def workplace(tree, tmp_path_factory):
    """Where the commands run: train.py, and memoir and python on the path."""
    folder = tmp_path_factory.mktemp("workplace")
    (folder / "train.py").write_text(PROGRAM)
    path = os.pathsep.join([str(tree / "bin"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMOIR_")}
    return folder, {**environment, "PATH": path}


@pytest.mark.parametrize("line", LINES, ids=COMMANDS)
def test_command(line, workplace):
    folder, environment = workplace
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode in exit_codes(line), done
    made = re.search(r" -o (\S+)", line)
    if made and "run " not in line:
        assert (folder / made.group(1)).stat().st_size > 1000
    elif not SILENT.match(line):
        assert len((done.stdout + done.stderr).strip()) > 40, done
    assert "Traceback" not in done.stderr


def test_the_page_is_short_and_its_verbs_are_the_programs(tree):
    text = PAGE.read_text()
    assert len(text.splitlines()) <= 150 and re.match(r"---\nname: memoir\ndescription: ", text)
    known = set(re.findall(r"^  ([a-z]+)  ", subprocess.run([tree / "bin" / "memoir", "--help"], capture_output=True, text=True).stdout, re.M))
    shown = {part.split()[1] for command in COMMANDS for part in command.split(" | ")}
    assert len(COMMANDS) > 20 and shown <= known
    assert known - {"symbolize"} <= shown, "a verb that the page does not show"


def test_the_table_of_questions_names_commands_that_exist(workplace, tree):
    """`show --by line` and its like in the first table: each is taken by the program, on the capture of the commands above."""
    folder, environment = workplace
    for capture, options in (("run1", ()), ("run2", ("--simulate", "h100"))):
        if not (folder / capture).exists():
            subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, *options, "--", sys.executable, "train.py"], cwd=folder,
                           env=environment, check=True, timeout=300)
    rows = re.search(r"\| question \| verb .*?\n\n", PAGE.read_text(), re.S).group(0).strip().splitlines()[2:]
    tried = 0
    for text in (text for row in rows for text in re.findall(r"`([^`]+)`", row.split("|")[2])):
        words = text.split()
        if words[0] == "explain":
            continue   # needs a subject; it is among the commands
        if words[0] == "diff":
            words = ["diff", "run1"]  # and run2
        if words[0] == "query":
            pytest.importorskip("duckdb", reason="setup/requirements.txt has it, for Python 3.11 and later")
        words = words if words[0] in ("show", "check", "diff", "live", "query") else ["show", *words]
        done = subprocess.run([tree / "bin" / "memoir", *words, "run2"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        none_there = "--at oom" in text and done.returncode == 1 and "out-of-memory" in done.stderr
        assert done.returncode in (0, 3) or none_there, (text, done)
        tried += 1
    assert tried > 12
