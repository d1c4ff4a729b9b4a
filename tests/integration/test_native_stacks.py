"""Native frames in a recording, and the names that `memoir symbolize` gives them."""

import ctypes.util
import os
import shutil
import socket
import time

import pytest
import torch
from recording import record, run_memoir, show

PROGRAM = '''
import torch

def grow(x):
    return x.repeat(1000)

kept = grow(torch.ones(1024))
'''
BYTES = 1000 * 1024 * 4


def stacks(tree, capture):
    """Every node of `show --by stack`, with the functions around it, innermost first."""
    nodes = {node["id"]: node for node in show(tree, capture, "--by", "stack", "--top", "0")["nodes"]}
    for node in nodes.values():
        around, at = [], node
        while at["parent"] is not None:
            around.append((at["file"], at["function"], at["line"]))
            at = nodes[at["parent"]]
        yield node, around


def stack_of(tree, capture, allocated):
    """The stack that allocated this many bytes itself."""
    return next(around for node, around in stacks(tree, capture) if node["own"]["allocated_bytes"] == allocated)


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("native"), PROGRAM, options=["--stacks", "native"])
    assert (done.returncode, done.stderr) == (0, "")
    return capture


def test_frames_of_libraries_lie_inside_those_of_python(tree, recorded):
    around = stack_of(tree, recorded, BYTES)
    python = [place for place in around if place[1] in ("grow", "<module>")]
    assert [(function, line) for _, function, line in python] == [("grow", 5), ("<module>", 7)]
    native = around[: around.index(python[0])]
    assert len(native) >= 5
    assert any(file.endswith("libtorch_cpu.so") for file, _, _ in native)
    assert not any("libmemoir" in file for file, _, _ in native)


def test_names_are_those_of_the_symbol_table(tree, recorded, tmp_path):
    capture = shutil.copytree(recorded, tmp_path / "capture")
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 0, done.stderr
    assert " have names" in done.stdout
    functions = [function for _, function, _ in stack_of(tree, capture, BYTES)]
    assert any("repeat" in function for function in functions[: functions.index("grow")]), functions
    assert show(tree, capture)["devices"] == show(tree, recorded)["devices"]


def test_the_line_is_still_the_programs(tree, recorded):
    lines = {row["function"]: row for row in show(tree, recorded, "--by", "line")["lines"]}
    assert lines["grow"]["line"] == 5 and lines["grow"]["allocated_bytes"] >= BYTES


TRAINING = '''
import sys, torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
    def forward(self, x):
        hidden = torch.relu(self.up(x))
        return x + self.down(hidden)

model = torch.nn.Sequential(Block(), Block()).to(sys.argv[1])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(2):
    x = torch.randn(32, 64, device=sys.argv[1])
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
'''


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_lines_are_those_of_a_recording_without_them(tree, tmp_path, device):
    if device == "cuda" and not torch.version.cuda:
        pytest.skip("this torch has no CUDA half")
    if device == "cuda" and "WITHOUT_SIMULATION" in os.environ:   # setup/compat.py
        pytest.skip("the simulated device does not serve this torch")
    lines = {}
    for kind in ("python", "native"):
        folder = tmp_path / kind
        folder.mkdir()
        simulated = ["--simulate", "h100"] if device == "cuda" else []
        capture, done = record(tree, folder, TRAINING, device, options=[*simulated, "--stacks", kind])
        assert (done.returncode, done.stderr) == (0, "")
        rows = show(tree, capture, "--by", "line")["lines"]
        of_program = [row for row in rows if (row["file"] or "").endswith("program.py")]
        lines[kind] = {(row["function"], row["line"]): row["allocated_bytes"] for row in of_program}
    assert lines["native"] == lines["python"]
    # Forward and backward.
    assert lines["native"]["Block.forward", 10] > 2 * 2 * 32 * 256 * 4
    # A block of backward is under forward's line with its own native frames, not the forward operator's.
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    functions = [[function for _, function, _ in around] for _, around in stacks(tree, capture)]
    backward = [names for names in functions if any("Engine::evaluate_function" in name for name in names)]
    assert any("Block.forward" in names for names in backward)
    assert not any("runStartCallbacks" in name for names in backward for name in names)


def test_symbolizing_again_changes_nothing(tree, recorded, tmp_path):
    capture = shutil.copytree(recorded, tmp_path / "capture")
    said = [run_memoir(tree, "symbolize", capture) for _ in range(2)]
    assert said[0].returncode == 0 and said[0].stdout == said[1].stdout
    first = (capture / "symbols.memoir-symbols").read_bytes()
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    assert (capture / "symbols.memoir-symbols").read_bytes() == first


def test_what_is_no_capture(tree, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.memoir").write_text("no capture\n" * 100)
    for wrong in ("missing", "folder", "text.memoir"):
        done = run_memoir(tree, "symbolize", tmp_path / wrong)
        assert done.returncode == 1 and done.stdout == "", wrong
        assert len(done.stderr.splitlines()) == 1 and str(tmp_path / wrong) in done.stderr, done.stderr
    assert run_memoir(tree, "symbolize").returncode == 2


def test_a_server_that_does_not_answer_is_asked_once(tree, recorded, tmp_path):
    """Libraries without debug information would be looked for on it, one after the other."""
    if ctypes.util.find_library("debuginfod") is None:
        pytest.skip("libdebuginfod is not installed")
    capture = shutil.copytree(recorded, tmp_path / "capture")
    with socket.create_server(("127.0.0.1", 0)) as server:  # it accepts the connection, and does not answer
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        environment = {**os.environ, "DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
        begin = time.monotonic()
        done = run_memoir(tree, "symbolize", capture, env=environment)
    assert done.returncode == 0 and done.stderr.count("DEBUGINFOD_URLS do not answer") == 1, done.stderr
    assert " have names" in done.stdout
    assert time.monotonic() - begin < 45


def test_a_capture_without_native_frames(tree, tmp_path):
    capture, _ = record(tree, tmp_path, PROGRAM)
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 1 and "--stacks native" in done.stderr


def test_damaged_names_are_said_and_written_again(tree, recorded, tmp_path):
    capture = shutil.copytree(recorded, tmp_path / "capture")
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    file = capture / "symbols.memoir-symbols"
    file.write_bytes(file.read_bytes()[:-100] + b"\xff" * 100)
    shown = run_memoir(tree, "show", capture)
    assert shown.returncode == 0 and "names of native frames are damaged" in shown.stdout + shown.stderr
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    assert show(tree, capture)["damage"] == []
