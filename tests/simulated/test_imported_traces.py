"""A trace of torch.profiler opens as a capture in every verb, with the peaks of the profiler and of torch.cuda.memory_stats()."""

import gzip
import json
import pathlib
import subprocess
import sys

import pytest

from simulation import environment

PROGRAM = pathlib.Path(__file__).parent / "traced_program.py"
LINES = {
    line.rpartition("# line: ")[2]: number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "# line: " in line
}
WAYS = ("cpu-plain", "cpu-middle", "cpu-others", "cuda-plain", "cuda-stacks", "cuda-middle", "cuda-schedule", "cuda-others")
KINDS = {0: "cpu", 1: "cuda:0"}


def memory_of(path):
    """The events of each device by time."""
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rt") as file:
        events = [event for event in json.load(file)["traceEvents"] if event["name"] == "[memory]"]
    devices = {}
    for event in sorted(events, key=lambda event: event["ts"]):
        devices.setdefault(KINDS[event["args"]["Device Type"]], []).append(event["args"])
    return devices


class Trace:
    def __init__(self, tree, folder, device, how):
        self.tree, self.device, self.how = tree, device, how
        self.path = folder / ("trace.json.gz" if how == "stacks" else "trace.json")
        command = [sys.executable, PROGRAM, device, self.path, how]
        done = subprocess.run(command, env=environment(tree, MEMOIR_SIM_GPU="l4"), check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        self.stats = json.loads(done.stdout.splitlines()[-1]) if how != "schedule" else {}
        self.memory = memory_of(self.path)

    def memoir(self, *arguments, code=0):
        command = [self.tree / "bin/memoir", *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        assert "\x1b" not in done.stdout
        return " ".join(done.stdout.split()) if "--json" not in arguments else done.stdout

    def json(self, *arguments):
        return json.loads(self.memoir(*arguments, "--json"))


@pytest.fixture(scope="module")
def made(tree, tmp_path_factory):
    """Each once, by its way."""
    traces = {}
    return lambda way: traces.get(way) or traces.setdefault(way, Trace(tree, tmp_path_factory.mktemp(way), *way.split("-")))


@pytest.fixture(params=WAYS)
def trace(request, made):
    return made(request.param)


@pytest.fixture
def stacks(made):
    return made("cuda-stacks")


def test_peaks_are_the_profilers(trace):
    assert trace.device == "cpu" or len(trace.memory["cuda:0"]) > 20
    shown = trace.json("show", trace.path)
    devices = {device["device"]: device for device in shown["devices"]}
    assert set(devices) == set(trace.memory)
    for name, events in trace.memory.items():
        first = events[0]["Total Allocated"] - events[0]["Bytes"]
        peak = max(first, *(event["Total Allocated"] for event in events))
        assert devices[name]["peak_allocated_bytes"] == peak
        assert devices[name]["live_bytes_at_end"] == events[-1]["Total Allocated"]
        if name.startswith("cuda"):
            assert devices[name]["peak_reserved_bytes"] == max(event["Total Reserved"] for event in events)
            assert devices[name]["peak_active_bytes"] is None and devices[name]["num_alloc_retries"] is None
    if trace.stats:
        assert devices["cuda:0"]["peak_allocated_bytes"] == trace.stats["allocated"]
        assert devices["cuda:0"]["peak_reserved_bytes"] == trace.stats["reserved"]
    [process] = shown["processes"]
    assert process["pid"] > 0 and process["imported_from"] == "a trace of torch.profiler"
    assert sum(row["bytes_at_peak"] for row in shown["operators"]) == sum(device["peak_allocated_bytes"] for device in shown["devices"])


def test_what_is_shown_says_what_it_is(trace):
    shown = trace.memoir(trace.path)
    assert shown.startswith(f"{trace.path.name}, a trace of torch.profiler, pid ")
    assert "by operator" in shown and "aten::" in shown
    assert shown.count("not in a trace of torch.profiler") == 1
    if trace.device == "cuda":  # whose parameters are there before it
        assert shown.count("the trace begins with memory in use") == 1 and "max_entries" not in shown
    assert ("changes of the profiler's totals have no event" in shown) == (trace.how == "others")


def test_operators_modules_and_lines_are_known(stacks):
    operators = {row["name"]: row for row in stacks.json("show", stacks.path)["operators"]}
    assert {"aten::linear", "aten::relu", "aten::mm", "aten::randn"} <= set(operators)
    assert operators["aten::relu"]["count"] == 3
    modules = {row.get("path"): row for row in stacks.json("show", "--by", "module", stacks.path)["modules"]}
    assert modules["Wide_0.Linear_0"]["class"] == "Linear" and modules["Wide_0.Linear_0"]["root"] == "Sequential"
    assert modules["Wide_0"]["bytes_at_peak"] > 0
    lines = {row["line"]: row for row in stacks.json("show", "--by", "line", stacks.path)["lines"] if (row["file"] or "").endswith("traced_program.py")}
    assert lines[LINES["forward"]]["allocations"] > 6
    shown = stacks.json("show", stacks.path)
    assert shown["step_count"] == 3 and shown["step_kind"] == "optimizer_step"


def test_steps_of_the_profiler_count(made):
    shown = made("cuda-schedule").json("show", made("cuda-schedule").path)
    assert shown["step_kind"] == "profiler_step" and shown["step_count"] == 2


@pytest.mark.in_turn(always=5)
@pytest.mark.parametrize(
    "arguments",
    ["show --by stack", "show --by category", "show --by range", "show --by module", "show --by kernel", "show --tree", "show --over time",
     "show --over operators", "show --at peak", "show --at end --by segment", "show --by checkpoint", "show --by pool", "check oom", "check frag",
     "check leaks", "check balance", "check"],
)  # fmt: skip
def test_every_view_opens_it(stacks, arguments):
    verb, *options = arguments.split()
    done = subprocess.run([stacks.tree / "bin/memoir", verb, *options, stacks.path], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode in ((0,) if verb == "show" else (0, 3)), done.stderr
    assert not done.stderr
    if "segment" in arguments or "frag" in arguments:
        assert "not known: a trace of torch.profiler has no segments" in " ".join(done.stdout.split())
    if "kernel" in arguments:
        assert "--kernels off" not in done.stdout and "no launches" in done.stdout


def test_report_and_exports_take_it(stacks, tmp_path):
    stacks.memoir("report", stacks.path, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!") and "trace.json.gz" in page
    for form in ("perfetto", "chrome", "pprof", "events"):
        stacks.memoir("export", form, stacks.path, "-o", tmp_path / form)
        assert (tmp_path / form).stat().st_size > 1000
    done = subprocess.run([stacks.tree / "bin/memoir", "export", "torch-snapshot", stacks.path, "-o", tmp_path / "no"], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "has no segments" in done.stderr and not (tmp_path / "no").exists()


def test_others_are_refused(tree, tmp_path):
    import torch

    with torch.profiler.profile() as profiler:
        torch.ones(3)
    profiler.export_chrome_trace(str(tmp_path / "without.json"))
    (tmp_path / "other.json").write_text('{"loss": [1.5, 1.25]}')
    (tmp_path / "cut.json").write_text((tmp_path / "without.json").read_text()[:-300])
    for name, said in (("without", "profile_memory=True"), ("other", "no trace of torch.profiler"), ("cut", "JSON that was cut")):
        path = tmp_path / f"{name}.json"
        done = subprocess.run([tree / "bin/memoir", "show", path], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and said in done.stderr and done.stderr.count("\n") == 1 and str(path) in done.stderr


def test_a_range_that_begins_in_a_function_ends_behind_it(made):
    """record_function's __enter__ is a function of Python: with stacks the range outlives it, and steps and phases are those without stacks."""
    with_stacks, without = ({row["name"]: row["allocated_bytes"] for row in trace.json("show", "--by", "range", trace.path)["ranges"]}
                            for trace in (made("cuda-stacks"), made("cuda-plain")))  # fmt: skip
    assert any(name.startswith("Optimizer.step#") and size > 0 for name, size in without.items()), without
    assert with_stacks == without
