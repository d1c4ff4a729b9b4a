"""Memory of compiled code has the lines and modules of the program that it was generated for, its region, and the frame that was compiled."""

import json
import os
import shutil

import pytest
from recording import events, record, run_explicit, run_memoir, show

MODEL = '''
import sys, torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
    def forward(self, x):
        wide = torch.nn.functional.gelu(self.up(x))  # wide
        near = torch.softmax(wide, -1) * wide  # near
        return x + self.down(near)  # down

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Block(), Block()])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

torch.manual_seed(0)
model = Net()
'''
TRAIN = MODEL + '''
fast = torch.compile(model, backend=sys.argv[1])
for _ in range(2):
    fast(torch.ones(32, 64)).sum().backward()  # the step
import torch._dynamo.utils as utils
print(utils.counters["inductor"]["fxgraph_cache_hit"] + utils.counters["aot_autograd"]["autograd_cache_hit"])
'''


def line_of(source, marker):
    return next(number for number, line in enumerate(source.split("\n"), 1) if line.endswith("# " + marker))


def by_line(tree, capture, source):
    """Allocated bytes of each line that has a marker, by the marker; and the rows."""
    rows = {(row["file"].rpartition("/")[2], row["line"]): row for row in show(tree, capture, "--by", "line")["lines"] if row["file"]}
    markers = [line.rpartition("# ")[2] for line in source.split("\n") if "  # " in line]
    found = {marker: rows.get(("program.py", line_of(source, marker))) for marker in markers}
    return {marker: row["allocated_bytes"] for marker, row in found.items() if row}, found


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp("inductor")), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory, cache):
    """recorded(backend, run): of a backend the n-th run, all with one cache."""
    found, folders = {}, {}

    def of(backend, run=0):
        for number in range(run + 1):
            if (backend, number) not in found:
                # One folder for all: code from a cache names the program's file as it was when it was generated.
                if backend not in folders:
                    folders[backend] = tmp_path_factory.mktemp(backend)
                folder = folders[backend]
                capture, done = record(tree, folder, TRAIN, backend, env=cache)
                assert done.returncode == 0, done.stderr[-3000:]
                found[backend, number] = capture.rename(folder / str(number)), int(done.stdout.split()[-1])
        return found[backend, run]

    return of


@pytest.mark.parametrize("backend", ["aot_eager", "eager", "inductor"])
def test_lines_and_modules(tree, recorded, backend):
    capture, _ = recorded(backend)
    bytes_of, rows = by_line(tree, capture, TRAIN)
    wide = 32 * 256 * 4
    # Forward: the widest tensors; backward: their gradients, of the same lines. Two layers, two steps.
    assert bytes_of["wide"] >= 2 * 2 * wide and bytes_of["near"] >= 2 * 2 * wide and bytes_of["down"] >= 2 * 2 * 32 * 64 * 4
    assert all(rows[marker]["function"] == "Block.forward" for marker in ("wide", "near", "down"))
    places = rows["near"]["via"]
    assert all(place["file"].startswith("<eval_with_key>") or place["file"].endswith(".py") for place in places)
    origins = [origin for place in places for origin in place["origins"]]
    assert {origin["module"] for origin in origins} >= {"layers.0", "layers.1"}
    assert {row["path"] for row in show(tree, capture, "--by", "module")["modules"] if row["kind"] == "named" and row["allocated_bytes"] > 0} >= {"layers.0", "layers.1", "layers.0.up"}


def test_fused_buffers_name_all_their_operations(tree, recorded):
    _, rows = by_line(tree, recorded("inductor")[0], TRAIN)
    fused = [place["origins"] for place in rows["near"]["via"]]
    of_two_lines = [origins for origins in fused if {origin["line"] for origin in origins} >= {line_of(TRAIN, "wide"), line_of(TRAIN, "near")}]
    assert of_two_lines, fused
    assert all(origin["operation"] for origins in of_two_lines for origin in origins)


def test_code_from_an_earlier_process(tree, recorded):
    """Nothing is generated anew: lines are as when it was, and so are modules where they are known."""
    (fresh, _), (cached, hits) = recorded("inductor"), recorded("inductor", 1)
    assert hits > 0
    first, again = by_line(tree, fresh, TRAIN)[0], by_line(tree, cached, TRAIN)[0]
    assert again.keys() == first.keys()
    assert abs(again["near"] + again["wide"] - first["near"] - first["wide"]) <= 0.2 * (first["near"] + first["wide"]), (first, again)


DELETED = TRAIN.replace("for _ in range(2):", "import os, shutil\nfor _ in range(2):").replace(
    "# the step", "# the step\n    shutil.rmtree(os.environ['TORCHINDUCTOR_CACHE_DIR'], ignore_errors=True)")


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("when", ["while it runs", "before"])
def test_files_that_were_deleted(tree, tmp_path, recorded, cache, when):
    recorded("inductor")
    copy = tmp_path / "cache"
    shutil.copytree(cache["TORCHINDUCTOR_CACHE_DIR"], copy)
    for file in copy.glob("*/c*.py") if when == "before" else ():
        file.unlink()
    source = DELETED if when == "while it runs" else TRAIN
    capture, done = record(tree, tmp_path, source, "inductor", env={**cache, "TORCHINDUCTOR_CACHE_DIR": str(copy)})
    assert done.returncode == 0, done.stderr[-3000:]
    assert copy.exists() == (when == "before")
    assert by_line(tree, capture, source)[0]["near"] >= 2 * 2 * 32 * 256 * 4


def test_regions(tree, recorded):
    capture, _ = recorded("aot_eager")
    rows = {row["name"]: row for row in show(tree, capture, "--by", "region")["regions"]}
    region = rows["Torch-Compiled Region: 0/0"]
    assert region["count"] == 2 and region["allocated_bytes"] > 2 * 2 * 4 * 32 * 256 * 4, "forward and backward"
    assert "(no compiled region)" in rows
    frames = show(tree, capture, "--by", "compiled")["frames"]
    (frame,) = frames
    assert (frame["id"], frame["function"], frame["calls"], frame["failure"]) == ("0/0", "Net.forward", 2, None)
    (device,) = frame["devices"]
    assert device["allocated_bytes"] == region["allocated_bytes"] and device["bytes_at_peak"] == region["bytes_at_peak"]
    assert 2 * 2 * 3 * 32 * 256 * 4 <= device["saved_bytes"] <= device["allocated_bytes"]
    text = run_memoir(tree, "show", "--by", "compiled", capture).stdout
    assert "0/0 program.py:" in text


ODD = '''
import torch

@torch.compile(backend="aot_eager", dynamic=False)
def sized(x):
    return (x * 2).relu()

def broken(x):
    x = x * 2
    print("here")  # break
    return x + 1

def failing(x):
    return x.exp()

def refuse(graph, inputs):
    torch.empty(1 << 20)
    raise RuntimeError("no such backend")

for size in (4, 5, 6):
    sized(torch.ones(size))
torch.compile(broken, backend="aot_eager")(torch.ones(3))
try:
    torch.compile(failing, backend=refuse)(torch.ones(3))
except Exception as error:
    print(type(error).__name__)
torch.zeros(1000)
'''


@pytest.fixture(scope="module")
def odd(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("odd"), ODD)
    assert done.returncode == 0, done.stderr[-3000:]
    return capture


def test_recompiles_breaks_and_failures(tree, odd):
    compiled = show(tree, odd, "--by", "compiled")
    frames = {frame["id"]: frame for frame in compiled["frames"]}
    assert {"0/0", "0/1", "0/2"} <= frames.keys()
    assert frames["0/0"]["reason"] is None and "size mismatch" in frames["0/1"]["reason"]
    assert frames["0/1"]["function"] == "sized" and frames["0/1"]["file"].endswith("program.py")
    (broken,) = compiled["graph_breaks"]
    assert (broken["line"], broken["function"], broken["count"]) == (line_of(ODD, "break"), "broken", 1)
    assert "print" in broken["reason"]
    (failed,) = [frame for frame in frames.values() if frame["failure"]]
    assert failed["function"] == "failing" and "no such backend" in failed["failure"]
    assert max(device["compile_peak_bytes"] for device in failed["devices"]) >= 4 << 20
    text = run_memoir(tree, "show", "--by", "compiled", odd).stdout
    assert "size mismatch" in text and "Graph breaks" in text and "failed" in text and max(map(len, text.splitlines())) <= 100


def test_the_tree_has_them(tree, odd):
    found = [json.loads(line) for line in run_memoir(tree, "export", "tree", odd).stdout.splitlines()]
    again = [node for node in found if node.get("name", "").startswith("torch.compile: recompiled 0/1 sized (program.py:")]
    assert len(again) == 1 and "size mismatch" in again[0]["name"]
    wide = {**os.environ, "COLUMNS": "300"}
    assert "torch.compile: recompiled 0/1" in run_memoir(tree, "show", "--tree", odd, env=wide).stdout, "however small"
    names = [event["name"] for event in events(tree, odd) if event["event"] == "range_begin"]
    assert any(name.startswith("torch.compile: graph break in broken (program.py:") for name in names)
    assert "generated code" not in run_memoir(tree, "show", "--tree", "--top", "0", odd).stdout


def train(body):
    return MODEL + body


PARTS = {
    "a part of a model": '''
model.layers[1] = torch.compile(model.layers[1], backend="aot_eager")
for _ in range(2):
    model(torch.ones(32, 64)).sum().backward()
''',
    "dynamic shapes": '''
fast = torch.compile(model, backend="aot_eager", dynamic=True)
for rows in (32, 48, 40):
    fast(torch.ones(rows, 64)).sum().backward()
''',
    "compiled autograd": '''
import torch._dynamo
torch._dynamo.config.compiled_autograd = True
fast = torch.compile(model, backend="aot_eager")
for _ in range(2):
    torch.compile(lambda: fast(torch.ones(32, 64)).sum().backward(), backend="aot_eager")()
''',
}


@pytest.mark.in_turn
def test_a_model_of_a_library(tree, tmp_path):
    """Forward and backward have the line that called the model, as without torch.compile."""
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "library_net.py").write_text(MODEL)
    program = f"""
import sys
sys.path.insert(0, {str(library)!r})
import torch, library_net
if sys.argv[1] != "none":
    library_net.model.compile(backend=sys.argv[1])
for _ in range(2):
    made = library_net.model(torch.ones(32, 64)).sum()  # the call
    made.backward()  # backward
"""
    bytes_of = {}
    for backend in ("none", "aot_eager"):
        (tmp_path / backend).mkdir()
        capture, done = record(tree, tmp_path / backend, program, backend)
        assert done.returncode == 0, done.stderr[-3000:]
        bytes_of[backend], _ = by_line(tree, capture, program)
        assert not [row for row in show(tree, capture, "--by", "line")["lines"] if (row["file"] or "").endswith("library_net.py") and row["function"] == "Block.forward"]
    # Without backward it would be half.
    assert 0.75 <= bytes_of["aot_eager"]["the call"] / bytes_of["none"]["the call"] <= 1.25, bytes_of


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("part", PARTS)
def test_parts(tree, tmp_path, part):
    source = train(PARTS[part])
    capture, done = record(tree, tmp_path, source)
    assert done.returncode == 0, done.stderr[-3000:]
    bytes_of, rows = by_line(tree, capture, source)
    assert bytes_of["wide"] >= 2 * 2 * 32 * 256 * 4, part
    assert rows["wide"]["via"]
    paths = {row["path"] for row in show(tree, capture, "--by", "module")["modules"] if row["kind"] == "named"}
    assert ("layers.1" in paths or part == "compiled autograd") and not any("layers.1.layers" in path or "orig_mod" in path for path in paths)


def test_an_optimizers_step(tree, tmp_path):
    source = train('''
optimizer = torch.optim.Adam(model.parameters(), foreach=False, capturable=False)
step = torch.compile(lambda: optimizer.step(), backend="aot_eager", fullgraph=False)
for _ in range(2):
    model(torch.ones(32, 64)).sum().backward()
    step()  # step
''')
    capture, done = record(tree, tmp_path, source)
    assert done.returncode == 0, done.stderr[-3000:]
    regions = [row for row in show(tree, capture, "--by", "region")["regions"] if row["name"].startswith("Torch-Compiled Region")]
    assert sum(row["allocated_bytes"] for row in regions) > 0


def test_what_was_compiled_before_the_recording(tree, tmp_path, recorded, cache):
    recorded("inductor")
    source = MODEL + '''
import memoir
fast = torch.compile(model, backend="inductor")
fast(torch.ones(32, 64)).sum().backward()
memoir.start(sys.argv[1])
fast(torch.ones(32, 64)).sum().backward()
memoir.stop()
'''
    done = run_explicit(tree, tmp_path, source, tmp_path / "capture", environment=cache)
    assert done.returncode == 0, done.stderr[-3000:]
    assert by_line(tree, tmp_path / "capture", source)[0]["near"] > 0
