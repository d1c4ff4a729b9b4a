"""The capture's figures of a CUDA device equal torch.cuda.memory_stats(): to the byte, after every operation of random programs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import exactness
from simulation import environment

PROGRAM = pathlib.Path(__file__).with_name("random_cuda.py")
PROGRAMS = int(os.environ.get("MEMOIR_EXACTNESS_PROGRAMS", "2"))  # of each configuration
OPERATIONS = 100
MIB = 1 << 20


class Device:
    """The allocator's sums, rebuilt from events."""

    def __init__(self):
        self.bytes = {f"{what}_bytes.{pool}": 0 for what in ("allocated", "active", "reserved") for pool in ("all", "small_pool", "large_pool")}
        self.bytes["requested_bytes.all"] = 0
        self.retries = self.ooms = 0
        self.steps = {}  # address: (bytes, pool) of what is reserved; of mapped ranges in steps of 2 MiB

    def add(self, what, size, pool):
        self.bytes[f"{what}_bytes.all"] += size
        self.bytes[f"{what}_bytes.{pool}"] += size

    def allocate(self, event):
        pool = "small_pool" if event["bytes"] <= MIB else "large_pool"
        self.add("allocated", event["bytes"], pool)
        self.add("active", event["bytes"], pool)
        self.bytes["requested_bytes.all"] += event["requested_bytes"]

    def deallocate(self, event):
        assert event["cause"] == "recorded", event
        self.add("allocated", -event["bytes"], "small_pool" if event["bytes"] <= MIB else "large_pool")

    def free_completed(self, event):
        self.add("active", -event["bytes"], "small_pool" if event["bytes"] <= MIB else "large_pool")
        self.bytes["requested_bytes.all"] -= event["requested_bytes"]

    def reserve(self, event, step):
        pool = "small_pool" if event["bytes"] <= 2 * MIB else "large_pool"
        for offset in range(0, event["bytes"], step):
            assert self.steps.setdefault(int(event["address"], 16) + offset, (min(step, event["bytes"] - offset), pool))
        self.add("reserved", event["bytes"], pool)

    def give_back(self, event):
        begin = int(event["address"], 16)
        gone = [address for address in self.steps if begin <= address < begin + event["bytes"]]
        assert sum(self.steps[address][0] for address in gone) == event["bytes"], event
        for address in gone:
            size, pool = self.steps.pop(address)
            self.add("reserved", -size, pool)

    def take(self, event):
        kind = event["event"]
        if kind in ("allocate", "deallocate", "free_completed"):
            getattr(self, kind)(event)
        elif kind == "segment_allocate":
            self.reserve(event, event["bytes"])
        elif kind in ("segment_map", "segment_found"):  # the segment found may be an expandable one
            self.reserve(event, 2 * MIB)
        elif kind in ("segment_free", "segment_unmap"):
            self.give_back(event)
        elif kind == "out_of_memory":
            self.ooms += 1
        elif kind == "device_statistics":
            self.retries, self.ooms = event["num_alloc_retries"], event["num_ooms"]

    def books(self):
        return {**self.bytes, "num_alloc_retries": self.retries, "num_ooms": self.ooms}


def run(tree, tmp_path, seeds, variable, configuration, mode):
    """The program's notes, and its captures by number."""
    books, capture = tmp_path / "books.json", tmp_path / "capture"
    device = {"MEMOIR_SIM_GPU": "l4", "MEMOIR_SIM_MEMORY": "1GiB", "MEMOIR_SIM_DEVICES": 2, variable: configuration}
    command = [sys.executable, PROGRAM, ",".join(map(str, seeds)), OPERATIONS, books, capture, *mode]
    if not mode:
        command = [tree / "bin/memoir", "run", "-q", "-o", capture / "0", "--", *command]
    env = environment(tree, **device, PYTHONPATH=tree / "lib/memoir/python")
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=120 * len(seeds))
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(books.read_text()), {int(folder.name): folder for folder in capture.iterdir()}


def memoir(tree, *arguments):
    done = subprocess.run([tree / "bin/memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def agree(rebuilt, row, untold):
    """Whether they are equal. `untold`: retries of calls that an error of the driver ended; Memoir learns of them with the allocator's next statistics."""
    late = row["num_alloc_retries"] - rebuilt["num_alloc_retries"]
    return rebuilt == row or (0 < late <= untold and {**rebuilt, "num_alloc_retries": row["num_alloc_retries"]} == row)


def compare(tree, capture, books, count):
    """Every row whose mark the capture has."""
    devices, compared = {name: Device() for name in books[0] if name.startswith("cuda")}, 0
    told = dict.fromkeys(devices, 0)
    for line in memoir(tree, "export", "events", capture).splitlines():
        event = json.loads(line)
        count["events"] += 1
        if event.get("device", "").startswith("cuda"):
            devices[event["device"]].take(event)
        if event["event"] == "range_begin" and event["name"].startswith("books "):
            row = books[int(event["name"].split()[1])]
            for name, device in devices.items():
                rebuilt, untold = device.books(), row["untold"].get(name, 0)
                assert agree(rebuilt, row[name], untold - told[name]), (event["name"], name, row["what"], rebuilt, row[name])
                told[name] = untold if rebuilt == row[name] else told[name]
                count["retries told late"] += rebuilt != row[name]
            compared += 1
    count["operations compared"] += compared
    return compared


def check_totals(tree, capture, rows):
    report = json.loads(memoir(tree, "show", "--json", capture))
    assert report["dropped_events"] == report["lost_records"] == report["statistics_mismatches"] == report["unmatched_deallocations"] == 0
    for shown in report["devices"]:
        if not shown["device"].startswith("cuda"):
            continue
        last = rows[-1][shown["device"]]
        late = last["num_alloc_retries"] - shown["num_alloc_retries"]
        assert shown["num_ooms"] == last["num_ooms"] and 0 <= late <= rows[-1]["untold"].get(shown["device"], 0)
        for what in ("allocated", "active", "reserved"):
            assert shown[f"peak_{what}_bytes"] >= max(row[shown["device"]][f"{what}_bytes.all"] for row in rows)
        columns = [part for row in report["operators"] for part in row.get("devices", []) if part["device"] == shown["device"]]
        assert sum(part["bytes_at_peak"] for part in columns) == shown["peak_allocated_bytes"]
        assert sum(part["allocated_bytes"] for part in columns) == shown["allocated_bytes"]


CUDA, ANY = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
CASES = [
    (CUDA, "", ()),
    (ANY, "expandable_segments:True", ()),
    (CUDA, "roundup_power2_divisions:4", ("--warm",)),
    (ANY, "max_split_size_mb:21", ()),
    (CUDA, "expandable_segments:True", ("--warm",)),
    (ANY, "garbage_collection_threshold:0.6", ()),
    (CUDA, "", ("--restart",)),
]


@pytest.mark.parametrize("variable, configuration, mode", CASES, ids=lambda part: "".join(part) or "default")
def test_the_capture_is_what_torch_says(tree, tmp_path, variable, configuration, mode):
    first = 1 + 1000 * CASES.index((variable, configuration, mode))
    noted, captures = run(tree, tmp_path, range(first, first + PROGRAMS), variable, configuration, mode)
    books = noted["books"]
    assert len(captures) == (PROGRAMS + 1 if mode == ("--restart",) else 1)
    count = {"programs": PROGRAMS, "recordings": len(captures), "operations compared": 0, "events": 0, "retries told late": 0}
    last = [books[-1][name] for name in ("cuda:0", "cuda:1")]
    faults = {"out of memory": sum(device["num_ooms"] for device in last), "retries": sum(device["num_alloc_retries"] for device in last),
              "errors of the driver in place of out of memory": noted["caught"]["driver_error"]}  # fmt: skip
    assert faults["out of memory"] >= noted["caught"]["out_of_memory"] >= PROGRAMS
    difference = "the test did not come to its end"
    try:
        for number, capture in captures.items():
            rows = [row for row in books if row["recording"] == number]
            assert compare(tree, capture, books, count) == len(rows) > 20
            check_totals(tree, capture, rows)
        difference = ""
    except AssertionError as error:
        difference = str(error).splitlines()[0]
        raise
    finally:
        where = f"{variable}={configuration}" if configuration else "default"
        exactness.note(noted["torch"], where, mode[0][2:] if mode else "preload", count, faults, difference)
    if "expandable" not in configuration and "max_split" not in configuration:  # these find room in other ways
        assert books[-1]["cuda:1"]["num_alloc_retries"] - books[-1]["cuda:1"]["num_ooms"] >= PROGRAMS, "each program has a retry that succeeds"


def test_the_page_is_made_of_its_counts():
    runs = json.loads(exactness.COUNTS.read_text())
    assert (pathlib.Path(__file__).parents[2] / "docs/tested/exactness.md").read_text() == exactness.page(runs)
    assert {run["torch"].split("+")[0] for run in runs} == {"2.11.0", "2.15.0"} and not any(run["difference"] for run in runs)
