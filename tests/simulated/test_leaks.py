"""`memoir check leaks` finds what keeps more in every step with the line that does it, and accuses no healthy program."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("leak_programs.py")


def expected(*left_out):
    lines = {match[1]: number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if (match := re.search(r"# LEAK: (\w+)$", line))}
    return {name: line for name, line in lines.items() if name not in left_out}


def run(tree, folder, *arguments, options=()):
    capture = folder / "capture"
    command = [tree / "bin/memoir", "run", "-o", capture, *options, "--", sys.executable, PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return capture, done.stderr


def show(tree, capture, *arguments):
    done = subprocess.run([tree / "bin/memoir", "show", "--json", *arguments, capture], capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


def check(tree, *arguments):
    return subprocess.run([tree / "bin/memoir", "check", *arguments], capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def on_cpu(tree, tmp_path_factory):
    return run(tree, tmp_path_factory.mktemp("cpu"))


@pytest.fixture(scope="module")
def on_gpu(tree, tmp_path_factory):
    return run(tree, tmp_path_factory.mktemp("gpu"), "--device", "cuda", "--gc-off", options=("--simulate", "h100"))


def found(tree, capture):
    done = check(tree, "leaks", "--json", capture)
    return done.returncode, json.loads(done.stdout)["leaks"]


def is_found(leaks, names):
    by_line = {leak["line"]: leak for leak in leaks}
    seeded = {line: name for name, line in names.items()}
    assert not set(names) - {seeded[line] for line in by_line if line in seeded}, "not found"
    # The tensors on the other marked lines are kept by the seeded line, too.
    others = [leak for line, leak in by_line.items() if line not in seeded and line - 1 not in seeded and line + 1 not in seeded]
    assert not others, "accused"
    assert all(leak["file"].endswith("leak_programs.py") for leak in leaks)


def test_every_leak_is_found_with_its_line_and_nothing_else(tree, on_cpu, on_gpu):
    code, leaks = found(tree, on_cpu[0])
    assert code == 3
    is_found(leaks, expected("gc_off", "pinned"))
    assert {leak["kind"] for leak in leaks if leak["line"] == expected()["key_value_cache"]} == {"replaced"}
    code, leaks = found(tree, on_gpu[0])
    assert code == 3
    is_found(leaks, expected())
    assert {leak["device"] for leak in leaks} == {"cuda:0", "pinned"}
    assert all(leak["since_step"] <= 5 and leak["bytes_per_step"] >= 1 << 18 for leak in leaks)


def test_healthy_programs_are_not_accused(tree, tmp_path):
    capture, said = run(tree, tmp_path, "--healthy")
    code, leaks = found(tree, capture)
    assert (code, leaks) == (0, [])
    assert "leak?" not in said
    assert re.search(r"^leaks +no leak of 1 % of the peak, or of 256 KiB a step, in 47 steps$", check(tree, capture).stdout, re.MULTILINE)


def test_the_summary_and_the_check_say_the_same_and_commands_work(tree, on_cpu):
    capture, said = on_cpu
    # The lines of the terminal, each after "memoir: ".
    line = re.search(r"leak\? \d+ leaks, the largest: (leak_programs\.py:\d+: .* steps)", " ".join(said.replace("memoir:", "").split()))[1]
    text = check(tree, "leaks", capture).stdout
    assert line in " ".join(text.split())
    command = re.search(r"more: memoir (show .*)", text)[1]
    assert re.search(r" --at \d+\.\d{3,8}s ", command), command
    done = subprocess.run(f"{tree}/bin/memoir {command}", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert line.split(":")[0] in done.stdout


ONE_CAUSE = """
import sys, torch, memoir
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(256, 1024), nn.Linear(1024, 256)
    def forward(self, x):
        h = self.a(x)
        h = torch.relu(h)
        h = nn.functional.dropout(h, 0.1)
        return self.b(h)
model, total, hoard = Net().cuda(), 0, []
for step in range(int(sys.argv[1])):
    memoir.step(step)
    hoard.append(torch.zeros(128, 256, device="cuda"))
    x = torch.randn(512 + 64 * (step % 3), 256, device="cuda")
    y = torch.zeros_like(x)
    model(x).square().mean().backward()
    model.zero_grad()
    predicted = model(x)
    loss = nn.functional.mse_loss(predicted, y)
    total = total + loss
"""


def test_lines_of_one_graph_are_one_cause(tree, tmp_path):
    """`total = total + loss` keeps the graph of every step, and with it tensors of five lines. `hoard` is another cause."""
    program = tmp_path / "one.py"
    program.write_text(ONE_CAUSE)
    command = [tree / "bin/memoir", "run", "--simulate", "h100", "-o", tmp_path / "capture", "--", sys.executable, program, "24"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    report = json.loads(check(tree, "leaks", "--json", tmp_path / "capture").stdout)
    (cause,) = report["causes"]
    assert {report["leaks"][i]["line"] for i in cause["leaks"]} >= {10, 11, 12, 17, 18}
    assert all((leak["cause"] == 0) == (leak["line"] != 16) for leak in report["leaks"])
    assert (cause["last_kept"]["line"], cause["last_result"]["line"]) == (12, 23), "what is replaced keeps what it was computed from"
    text = " ".join(check(tree, "leaks", tmp_path / "capture").stdout.split())
    assert "likely for 2 causes" in text and re.search(r"one\.py:\d+ and \d other places, likely for one cause: \+", text), text
    assert "the last of these tensors in a step is made at one.py:12, the last that is computed from them at one.py:23" in text, text
    assert "2 leaks, the largest: one.py:" in " ".join(done.stderr.replace("memoir:", "").split())


def test_an_error_that_a_leak_causes(tree, tmp_path):
    program = tmp_path / "one.py"
    program.write_text(ONE_CAUSE)
    command = [tree / "bin/memoir", "run", "--simulate", "h100", "--sim-memory", "1GiB", "-o", tmp_path / "capture", "--", sys.executable, program, "1000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert "OutOfMemoryError" in done.stderr
    text = " ".join(check(tree, "oom", tmp_path / "capture").stdout.split())
    assert re.search(r"what helps fix the leak at \d places, the largest one\.py:\d+: \d+\.\d MiB so far, \d\.\d MiB more in every step", text), text
    assert "checkpointing Net" not in text and "a smaller batch" not in text, "their figures would count what is kept of all steps"
    assert "what helps fix the leak at " in " ".join(done.stderr.replace("memoir:", "").split())
    (error,) = json.loads(check(tree, "oom", "--json", tmp_path / "capture").stdout)["out_of_memory"]
    leaks = json.loads(check(tree, "leaks", "--json", tmp_path / "capture").stdout)["leaks"]
    on_gpu = [leak for leak in leaks if leak["device"] == "cuda:0"]
    assert error["leaking"]["places"] == len(on_gpu) and error["leaking"]["bytes"] == sum(leak["bytes"] for leak in on_gpu) > 100 << 20


def test_commands_are_of_the_run_that_was_asked_for(tree, tmp_path):
    program = tmp_path / "twice.py"
    program.write_text("import memoir, sys, torch\nkept = []\nfor step in range(20):\n    memoir.step(step)\n    kept.append(torch.zeros(int(sys.argv[1])))\n")
    for size in ("65536", "131072"):
        subprocess.run([tree / "bin/memoir", "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, program, size], timeout=300, check=True)
    text = check(tree, "leaks", "--run", "1", tmp_path / "capture").stdout
    assert "twice.py:5: +256.0 KiB each step" in text
    command = re.search(r"more: memoir (show .*)", text)[1]
    done = subprocess.run(f"{tree}/bin/memoir {command}", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and re.search(r"twice\.py:5 .* 4\.8 MiB", done.stdout), done.stdout + done.stderr
    assert "+512.0 KiB each step" in check(tree, "leaks", tmp_path / "capture").stdout


def test_a_part_of_the_recording(tree, on_cpu):
    capture = on_cpu[0]
    few = check(tree, "leaks", "--steps", "10:13", capture)
    assert few.returncode == 0 and "too few to tell what grows" in few.stdout
    some = json.loads(check(tree, "leaks", "--json", "--steps", "10:30", capture).stdout)["leaks"]
    assert some and all(leak["since_step"] >= 10 for leak in some)
    hooked = json.loads(check(tree, "leaks", "--json", "--module", "Linear*", capture).stdout)["leaks"]
    assert hooked and all(leak["module"].startswith("Linear") for leak in hooked)
    chosen = show(tree, capture, "--by", "module", "--module", "Linear*")
    (device,) = chosen["devices"]
    assert sum(row["bytes_at_peak"] for row in chosen["modules"]) == device["peak_allocated_bytes"] < device["peak_of_all_bytes"]
    assert all(row["name"].startswith("Linear") for row in chosen["modules"] if row["allocations"])
    large = show(tree, capture, "--by", "line", "--at", "peak", "--min-size", "1MiB")
    assert large["devices"][0]["live_blocks"] > 0
    assert all(row["bytes"] >= row["blocks"] << 20 for row in large["devices"][0]["lines"])
    line = subprocess.run([tree / "bin/memoir", "show", "--by", "line", "--min-size", "1MiB", capture], capture_output=True, text=True, check=True).stdout
    assert line.startswith("Only blocks of 1.0 MiB or more\n")
    assert re.search(r"^cpu: peak .*\n(?:  .*\n)*?  \d+\.\d% of the \d+\.\d MiB in all blocks then$", line, re.MULTILINE)
    none = check(tree, "leaks", "--min-size", "1TiB", capture)
    assert none.returncode == 1 and re.search(r"no block has 1\.00 TiB or more; the largest has \d+\.\d MiB", none.stderr.replace("\nmemoir:", ""))
    refused = check(tree, "oom", "--module", "Linear", capture)
    assert refused.returncode == 2 and "work only with leaks: memoir check leaks --module" in refused.stderr


KILLED = """
import os, signal, torch
model, kept = torch.nn.Linear(512, 512), []
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    loss = model(torch.zeros(512, 512)).square().mean()
    kept.append(loss * torch.ones(256, 256))  # LEAK
    loss.backward()
    if step == 25: os.kill(os.getpid(), signal.SIGKILL)
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_program_that_was_killed_in_a_step(tree, tmp_path):
    program, capture = tmp_path / "killed.py", tmp_path / "capture"
    program.write_text(KILLED)
    done = subprocess.run([tree / "bin/memoir", "run", "-o", capture, "--", sys.executable, program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL, os.EX_SOFTWARE), done.stderr
    _, leaks = found(tree, capture)
    line = 1 + next(i for i, line in enumerate(KILLED.splitlines()) if line.endswith("# LEAK"))
    assert line in {leak["line"] for leak in leaks}
