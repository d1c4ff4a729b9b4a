"""memoir export memory-tracker and memoir.MemoryTracker equal torch's MemoryTracker in the same process: every row, marker and figure."""

import json
import pathlib
import pickle
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from simulation import environment, simulate

PROGRAMS = pathlib.Path(__file__).with_name("memory_tracker_programs.py")
RECORDED = {"convolutions": 80, "transformer": 400, "lstm": 40, "tied_weights": 80, "mixed_precision": 60, "checkpointing": 100, "fsdp": 60,
            "several_roots": 200, "part_of_a_model": 400, "retries": 8}  # fmt: skip
ROOTS = {"several_roots": "Generator", "part_of_a_model": "TransformerEncoder.layers.1"}
WATCHED = {"convolutions": 80, "lstm": 40, "checkpointing": 100, "fsdp2": 60, "several_roots": 200, "retries": 8}
COLUMNS = ("memories_allocated", "memories_active", "memories_reserved")


def run(tree, folder, which, names):
    card = {"MEMOIR_SIM_GPU": "l4", "MEMOIR_SIM_MEMORY": "2GiB"}
    command = [sys.executable, PROGRAMS, folder, which, *names]
    done = subprocess.run(list(map(str, command)), env=environment(tree, **card), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    return run(tree, tmp_path_factory.mktemp("recorded"), "recording", RECORDED)


@pytest.fixture(scope="module")
def watched(tree, tmp_path_factory):
    return run(tree, tmp_path_factory.mktemp("watched"), "ours", WATCHED)


def memoir(tree, *arguments):
    return subprocess.run([tree / "bin/memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise AssertionError(f"{module}.{name}: a reader would have to execute it")


def plain(path):
    with open(path, "rb") as file:
        return Plain(file).load()


def export(tree, folder, name, *options):
    path = folder / f"{name}.exported.pickle"
    done = memoir(tree, "export", "memory-tracker", folder / name, "-o", path, *options)
    assert done.returncode == 0 and "missing" not in done.stderr, done.stderr
    return plain(path)


def assert_equal(stats, path, rows):
    theirs = pickle.loads(path.read_bytes())
    for column in COLUMNS:
        assert len(theirs[column]) == len(stats[column])
        for i, row in theirs[column].items():
            assert stats[column][i] == row, (column, i)
    assert stats["markers"] == theirs["markers"] and stats["num_alloc_retries"] == theirs["num_alloc_retries"]
    assert stats["op_index"] == len(theirs["memories_active"]) >= rows, "something was watched"
    assert 0 < stats["markers"]["fw_start"] < stats["markers"]["fw_bw_boundary"] < stats["op_index"]
    assert len({mb for _, mb in stats["memories_allocated"].values()}) > 5 and stats["memories_reserved"][0][1] > 0


@pytest.mark.parametrize("name", RECORDED)
def test_an_export_is_what_torch_has(tree, recorded, name):
    stats = export(tree, recorded, name, *(("--root", ROOTS[name]) if name in ROOTS else ()))
    assert_equal(stats, recorded / f"{name}.pickle", RECORDED[name])


def test_retries_are_there(tree, recorded):
    assert export(tree, recorded, "retries")["num_alloc_retries"] > 0


@pytest.mark.parametrize("name", WATCHED)
def test_our_tracker_has_what_torchs_has(watched, name):
    assert_equal(plain(watched / f"{name}.ours.pickle"), watched / f"{name}.pickle", WATCHED[name])


def test_the_root_of_most_modules_is_watched_and_others_are_named(tree, recorded, tmp_path):
    done = memoir(tree, "export", "memory-tracker", recorded / "several_roots", "-o", tmp_path / "out.pickle")
    assert done.returncode == 0 and "watching Discriminator; --root takes another one: Generator" in done.stderr, done.stderr
    done = memoir(tree, "export", "memory-tracker", recorded / "several_roots", "-o", tmp_path / "none.pickle", "--root", "Judge")
    assert done.returncode == 1 and "no module 'Judge' was called; roots are: " in done.stderr and not (tmp_path / "none.pickle").exists()


def test_iterations_have_their_markers(tree, recorded):
    """For the same captures, the answer of memoir show."""
    shown = json.loads(memoir(tree, "show", "--over", "operators", "--json", recorded / "transformer").stdout)
    (device,) = shown["devices"]
    assert device["device"] == "cuda:0" and device["operator_calls"] == len(device["calls"]) > 400 and shown["dropped_events"] == 0
    order = ("fw_start", "fw_bw_boundary", "backward_end", "optimizer_step")
    places = [[iteration[name]["call"] for name in order] for iteration in device["iterations"]]
    assert len(places) == 2 and sum(places, []) == sorted(sum(places, []))
    assert all(len(set(place)) >= 3 for place in places), "each pass has calls of its own"
    start, boundary, end, _ = places[0]
    for first, last, phase in ((start, boundary, "forward"), (boundary, end, "backward")):
        found = [call for call in device["calls"][first:last] if call["phase"] == phase]
        assert any(call.get("module") == "layers.0.linear1" and "mm" in call["operator"] for call in found), phase
    with open(recorded / "transformer.pickle", "rb") as file:
        peak = max(mb for _, mb in pickle.load(file)["memories_allocated"].values())
    assert max(call["allocated_bytes"] for call in device["calls"]) == peak * 2**20


def test_curves_and_pictures(tree, recorded, tmp_path):
    png, svg = tmp_path / "over.png", tmp_path / "over.svg"
    done = memoir(tree, "show", "--over", "time", "--json", recorded / "transformer", "--png", png, "--svg", svg)
    assert done.returncode == 0, done.stderr
    device = next(device for device in json.loads(done.stdout)["devices"] if device["device"] == "cuda:0")
    with open(recorded / "transformer.pickle", "rb") as file:
        stats = pickle.load(file)
    for name, column in (("allocated", "max_bytes"), ("active", "max_active_bytes"), ("reserved", "max_reserved_bytes")):
        assert device[f"peak_{name}_bytes"] == max(device[column]) >= max(mb for _, mb in stats[f"memories_{name}"].values()) * 2**20 > 0
    assert len(device["iterations"]) == 2
    assert png.read_bytes().startswith(b"\x89PNG\r\n") and len(ElementTree.parse(svg).findall("{http://www.w3.org/2000/svg}polyline")) == 3


TWO_GPUS = "import torch\nfor i in (1, 0): torch.nn.Linear(4, 4).to(f'cuda:{i}')(torch.ones(2, 4, device=f'cuda:{i}')).sum().backward()"


def test_the_first_gpu_is_meant_and_others_are_named(tree, tmp_path):
    command = ("run", "-q", "-o", tmp_path / "capture", "--simulate", "l4", "--sim-devices", 2, "--ops", "dispatch", "--", sys.executable, "-c", TWO_GPUS)
    assert memoir(tree, *command).returncode == 0
    found = {}
    for device in ("", "cuda:0", "cuda:1"):
        options = ("--device", device) if device else ()
        done = memoir(tree, "export", "memory-tracker", tmp_path / "capture", "-o", tmp_path / "out.pickle", *options)
        assert done.returncode == 0 and ("memory of cuda:0; --device takes another one: cuda:1" in done.stderr) == (device == ""), done.stderr
        found[device] = [mb for _, mb in plain(tmp_path / "out.pickle")["memories_allocated"].values()]
    assert found[""] == found["cuda:0"] != found["cuda:1"] and max(found["cuda:0"]) > 0 and max(found["cuda:1"]) > 0
    first = {device: next(i for i, mb in enumerate(found[device]) if mb > 0) for device in ("cuda:0", "cuda:1")}
    assert first["cuda:1"] < first["cuda:0"]


ON_THE_HOST = "import torch; torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward()"
ON_THE_GPU = "import torch; torch.nn.Linear(4, 4).cuda()(torch.ones(2, 4, device='cuda')).sum().backward()"


@pytest.mark.parametrize("source, options, words", [
    (ON_THE_GPU, (), "its operators are those above autograd, and MemoryTracker's are those below: record with memoir run --ops dispatch"),
    (ON_THE_HOST, ("--ops", "dispatch"), "no memory of a CUDA device was recorded"),
])  # fmt: skip
def test_one_line_where_a_capture_lacks_something(tree, tmp_path, source, options, words):
    done = memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--simulate", "l4", *options, "--", sys.executable, "-c", source)
    assert done.returncode == 0, done.stderr
    done = memoir(tree, "export", "memory-tracker", tmp_path / "capture", "-o", tmp_path / "out.pickle")
    assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1 and not (tmp_path / "out.pickle").exists()


SAYS_THE_SAME = '''
import contextlib, io, json, os, pickle, sys, types
import memoir
from torch.distributed._tools.memory_tracker import MemoryTracker
calls = []
plot = types.ModuleType("matplotlib.pyplot")
plot.__getattr__ = lambda name: lambda *arguments, **named: calls.append([name, arguments, named])
sys.modules["matplotlib"] = types.ModuleType("matplotlib")
sys.modules["matplotlib"].pyplot = sys.modules["matplotlib.pyplot"] = plot
said = {}
for which, tracker in (("torch", MemoryTracker()), ("ours", memoir.MemoryTracker())):
    for path in sys.argv[1:]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tracker.load(path)
            tracker._op_index = len(tracker.memories_active)   # torch 2.11 forgets to
            tracker.summary()
            tracker.summary(top=3)
            tracker.show_traces(path)
        said.setdefault(path, {})[which] = [out.getvalue(), json.loads(json.dumps(calls))]
        calls.clear()

class Evil:
    def __reduce__(self):
        return os.mkdir, (sys.argv[1] + ".executed",)

refused = []
for stats in (Evil(), {"memories_allocated": Evil()}, [], {}, {"memories_allocated": {0: 1}}):
    with open(sys.argv[1] + ".evil", "wb") as file:
        pickle.dump(stats, file)
    try:
        memoir.MemoryTracker().load(sys.argv[1] + ".evil")
    except (pickle.UnpicklingError, ValueError) as problem:
        refused.append(str(problem))
print(json.dumps({"said": said, "refused": refused, "executed": os.path.exists(sys.argv[1] + ".executed")}))
'''


def test_the_same_texts_and_plots(tree, watched, tmp_path):
    done = simulate(tree, SAYS_THE_SAME, watched / "lstm.pickle", watched / "lstm.ours.pickle")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    texts = []
    for said in found["said"].values():
        assert said["ours"] == said["torch"]
        texts.append(said["ours"])
        assert said["ours"][0].count("MB\n") == 23 and [call[0] for call in said["ours"][1]].count("figure") == 4
    assert texts[0] == texts[1]
    assert len(found["refused"]) == 5 and "has no place in a file of MemoryTracker's" in found["refused"][0] and not found["executed"]


RESTARTS = '''
import json, os, sys, torch, memoir
tracker, result = memoir.MemoryTracker(), {}
def watch(module, calls):
    tracker.start_monitor(module)
    for _ in range(calls):
        module(torch.ones(2, 4, device="cuda"))
    tracker.stop()
    return [name for name, _ in tracker.memories_allocated.values()]
one, two = torch.nn.Linear(4, 4).cuda(), torch.nn.Sequential(torch.nn.Linear(4, 4)).cuda()
reserved = torch.empty(50 << 20, dtype=torch.uint8, device="cuda"); del reserved
before = torch.cuda.memory_reserved()
result["first"], result["second"] = watch(one, 2), watch(two, 1)
result["kept"] = torch.cuda.memory_reserved() == before
result["hooks"] = len(one._forward_pre_hooks) + len(two._forward_hooks)
result["attributes"] = [name for name in vars(one) if "tracker" in name]
result["recording"] = memoir.is_recording()
for wrong in (tracker.stop, lambda: (tracker.start_monitor(one), tracker.start_monitor(one))):
    try:
        wrong()
    except RuntimeError as problem:
        result.setdefault("refused", []).append(str(problem))
tracker.stop()
memoir.start(sys.argv[1], quiet=True)
try:
    tracker.start_monitor(one)
except RuntimeError as problem:
    result["refused"].append(str(problem))
memoir.stop()
memoir.start(sys.argv[2], quiet=True, ops="dispatch")
result["inside"] = watch(one, 1)
result["recording inside"] = memoir.is_recording()
memoir.stop()
print(json.dumps(result))
'''


def test_restarts_and_recordings_that_run(tree, tmp_path):
    done = simulate(tree, RESTARTS, tmp_path / "ranges", tmp_path / "dispatch", MEMOIR_SIM_GPU="l4", TMPDIR=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in found["first"] if "addmm" in name] == [".forward.addmm.default_0", ".forward.addmm.default_1"]
    assert [name for name in found["second"] if "addmm" in name] == ["0.forward.addmm.default_0"], "the start before is forgotten"
    assert found["inside"][-1] == ".forward.addmm.default_0" and found["recording inside"] and not found["recording"]
    assert found["kept"] and found["hooks"] == 0 and found["attributes"] == []
    assert ["stop() first" in line or "start_monitor(module) first" in line or "--ops dispatch" in line for line in found["refused"]] == [True] * 3
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("memoir-tracker")], "what it wrote is gone"
