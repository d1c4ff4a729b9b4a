"""A pickle of torch.cuda.memory._dump_snapshot() opens as a capture in every verb, with the figures of torch.cuda.memory_stats()."""

import json
import pathlib
import pickle
import subprocess
import sys

import pytest

from simulation import environment

PROGRAM = pathlib.Path(__file__).parent / "imported_program.py"
LINES = {
    line.rpartition("# line: ")[2]: number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "# line: " in line
}
# entries, stacks, PYTORCH_CUDA_ALLOC_CONF
CONFIGURATIONS = {
    "python": (0, "python", ""),
    "all": (0, "all", ""),
    "expandable": (0, "python", "expandable_segments:True"),
    "divisions": (0, "python", "roundup_power2_divisions:4"),
    "split": (0, "python", "max_split_size_mb:64"),
}


class Snapshot:
    def __init__(self, tree, folder, entries, stacks, configuration):
        self.tree = tree
        self.path = folder / "snapshot.pickle"
        env = environment(tree, MEMOIR_SIM_GPU="l4", MEMOIR_SIM_DEVICES=2, PYTORCH_CUDA_ALLOC_CONF=configuration)
        command = [sys.executable, PROGRAM, folder, str(entries), stacks]
        done = subprocess.run(command, env=env, check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        self.stats = json.loads(done.stdout.splitlines()[-1])

    def memoir(self, *arguments, code=0):
        command = [self.tree / "bin/memoir", *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        assert code is None or done.returncode == code, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        assert "\x1b" not in done.stdout
        return " ".join(done.stdout.split()) if arguments[0] not in ("export",) and "--json" not in arguments else done.stdout

    def json(self, *arguments):
        return json.loads(self.memoir(*arguments, "--json"))


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def snapshot(request, tree, tmp_path_factory):
    return Snapshot(tree, tmp_path_factory.mktemp(request.param), *CONFIGURATIONS[request.param])


@pytest.fixture(scope="module")
def cut(tree, tmp_path_factory):
    return Snapshot(tree, tmp_path_factory.mktemp("cut"), 40, "python", "")


def test_peaks_are_torchs(snapshot):
    shown = snapshot.json("show", "--by", "line", snapshot.path)
    assert {device["device"] for device in shown["devices"]} == {"cuda:0", "cuda:1"}
    for device in shown["devices"]:
        stats = snapshot.stats[int(device["device"][-1])]
        assert device["peak_allocated_bytes"] == stats["allocated_bytes.all.peak"]
        assert device["peak_active_bytes"] == stats["active_bytes.all.peak"]
        assert device["peak_reserved_bytes"] == stats["reserved_bytes.all.peak"]
        assert device["reserved_bytes_at_end"] == stats["reserved_bytes.all.current"]
        assert device["allocations"] == stats["allocation.all.allocated"]
        assert device["num_ooms"] == stats["num_ooms"]
        assert device["num_alloc_retries"] is None
    [process] = shown["processes"]
    assert process["pid"] is None and "torch-snapshot" in process["sources"] and process["program"] == "snapshot.pickle"


def test_the_largest_lines_are_the_programs(snapshot):
    shown = snapshot.json("show", "--by", "line", snapshot.path)
    found = {row["line"]: row for row in shown["lines"] if (row["file"] or "").endswith("imported_program.py")}
    assert {LINES["activations"], LINES["batch"], LINES["other"]} <= set(found)
    assert found[LINES["batch"]]["allocations"] == 3
    assert found[LINES["other"]]["net_bytes"] == 32 << 20
    assert max(found.values(), key=lambda row: row["bytes_at_peak"])["line"] == LINES["activations"]


def test_what_is_shown_says_what_it_is(snapshot):
    shown = snapshot.memoir(snapshot.path)
    assert shown.startswith("snapshot.pickle, a memory snapshot of PyTorch")
    assert "by line" in shown and "imported_program.py" in shown and "retries not known" in shown
    assert "pid" not in shown and "thread" not in shown and "history begins" not in shown
    assert shown.count("not in a memory snapshot") == 1


def test_operators_are_known_with_all_stacks(snapshot, request):
    shown = snapshot.json("show", "--by", "operator", snapshot.path)
    named = {row["name"] for row in shown["operators"] if row["name"].startswith("aten::")}
    if "all]" in request.node.name:
        assert {"aten::randn", "aten::relu", "aten::mm"} <= named
        assert "(backward) AddmmBackward0" in snapshot.memoir(snapshot.path)
    else:
        assert not named


@pytest.mark.in_turn(always=14)
@pytest.mark.parametrize(
    "arguments",
    ["show --by stack", "show --by category", "show --by pool", "show --by module", "show --tree", "show --over time", "show --at peak",
     "show --at oom", "show --at end --by segment", "check oom", "check frag", "check leaks", "check balance", "check"],
)  # fmt: skip
def test_every_view_opens_it(snapshot, arguments):
    verb, *options = arguments.split()
    done = subprocess.run([snapshot.tree / "bin/memoir", verb, *options, snapshot.path], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode in ((0,) if verb == "show" else (0, 3)), done.stderr
    assert not done.stderr and done.stdout.strip()
    assert verb == "check" or "snapshot.pickle" in done.stdout


def test_explain_knows_an_address(snapshot):
    with open(snapshot.path, "rb") as file:
        segments = pickle.load(file)["segments"]
    [address] = [block["address"] for segment in segments for block in segment["blocks"] if block["state"] == "active_allocated" and block["size"] == 32 << 20]  # fmt: skip
    explained = snapshot.memoir("explain", snapshot.path, hex(address))
    assert "32.0 MiB" in explained and f"imported_program.py:{LINES['other']}" in explained
    assert "not known: a memory snapshot of PyTorch has no calls" in explained and "no operator" not in explained


def test_what_it_cannot_know_is_not_known(snapshot, request):
    kernels = snapshot.memoir("show", "--by", "kernel", snapshot.path)
    assert "not known: a memory snapshot of PyTorch has no calls of CUDA" in kernels and "--kernels off" not in kernels
    balance = snapshot.memoir("check", "balance", snapshot.path)
    assert "before the recording" not in balance
    frag = snapshot.memoir("check", "frag", snapshot.path, code=None)
    if "all]" not in request.node.name:
        assert "(no operator)" not in frag and "<module>" in frag
    [process] = snapshot.json("show", snapshot.path)["processes"]
    assert process["imported_from"] == "a memory snapshot of PyTorch"


def test_out_of_memory_is_told(snapshot):
    told = snapshot.memoir("check", "oom", snapshot.path, code=3)
    assert "asked for 4.00 TiB" in told and "TOO LARGE" in told and "imported_program.py" in told


def test_events_sum_to_what_is_live(snapshot):
    live, peak, now = {}, 0, 0
    for line in snapshot.memoir("export", "events", snapshot.path).splitlines():
        event = json.loads(line)
        if event.get("device") != "cuda:0":
            continue
        if event["event"] == "allocate":
            live[event["address"]] = event["bytes"]
            now += event["bytes"]
        elif event["event"] == "deallocate" and event["address"] in live:
            now -= live.pop(event["address"])
        peak = max(peak, now)
    assert peak == snapshot.stats[0]["allocated_bytes.all.peak"]
    assert now == snapshot.stats[0]["allocated_bytes.all.current"]


def test_report_is_a_page(snapshot, tmp_path):
    snapshot.memoir("report", snapshot.path, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!") and "snapshot.pickle" in page


def test_exports_take_it(snapshot, tmp_path):
    snapshot.memoir("export", "torch-snapshot", snapshot.path, "-o", tmp_path / "again.pickle")
    with open(tmp_path / "again.pickle", "rb") as again, open(snapshot.path, "rb") as first:
        again, first = pickle.load(again), pickle.load(first)
    reserved = lambda snapshot: sorted((s["device"], s["address"], s["total_size"], s["active_size"]) for s in snapshot["segments"])
    assert reserved(again) == reserved(first)
    snapshot.memoir("export", "perfetto", snapshot.path, "-o", tmp_path / "trace.pftrace")
    assert (tmp_path / "trace.pftrace").stat().st_size > 1000


def test_a_cut_history_is_said_once(cut):
    shown = cut.memoir(cut.path)
    assert shown.count("the history begins with memory in use") == 1 and "max_entries" in shown
    assert "(before the window)" in shown and f"imported_program.py:{LINES['parameters']}" in shown
    document = cut.json("show", cut.path)
    [first] = [device for device in document["devices"] if device["device"] == "cuda:0"]
    assert first["peak_allocated_bytes"] < cut.stats[0]["allocated_bytes.all.peak"], "which was before"
    assert first["reserved_bytes_at_end"] == cut.stats[0]["reserved_bytes.all.current"]


def test_without_history_the_end_is_known(tree, tmp_path):
    bare = Snapshot(tree, tmp_path, -1, "python", "")
    assert "no history: torch.cuda.memory._record_memory_history() was not on" in bare.memoir(bare.path)
    for device in bare.json("show", bare.path)["devices"]:
        stats = bare.stats[int(device["device"][-1])]
        assert device["peak_allocated_bytes"] == stats["allocated_bytes.all.current"]
        assert device["reserved_bytes_at_peak"] == device["peak_reserved_bytes"] == stats["reserved_bytes.all.current"]


def test_others_are_refused(tree, tmp_path):
    import torch

    path = tmp_path / "weights.pt"
    torch.save({"weight": torch.ones(3)}, path)
    old = tmp_path / "old.pt"
    torch.save({"weight": torch.ones(3)}, old, _use_new_zipfile_serialization=False)
    evil = tmp_path / "evil.pickle"
    touched = tmp_path / "touched"
    evil.write_bytes(b"\x80\x02cos\nsystem\nX" + len(f"touch {touched}").to_bytes(4, "little") + f"touch {touched}".encode() + b"\x85R.")
    for file, said in ((path, "torch.save()"), (old, "pickle"), (evil, "os.system")):
        done = subprocess.run([tree / "bin/memoir", "show", file], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and said in done.stderr and done.stderr.count("\n") == 1 and str(file) in done.stderr
    assert not touched.exists()
