"""What the capture says of a CUDA device is what torch.cuda.memory_stats() says of it: to the byte, after every operation of random programs."""

import json
import pathlib
import subprocess
import sys

import pytest

from simulation import environment

PROGRAM = pathlib.Path(__file__).with_name("random_cuda.py")
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
        elif kind in ("segment_allocate", "segment_found"):
            self.reserve(event, event["bytes"])
        elif kind == "segment_map":
            self.reserve(event, 2 * MIB)
        elif kind in ("segment_free", "segment_unmap"):
            self.give_back(event)
        elif kind == "out_of_memory":
            self.ooms += 1
        elif kind == "device_statistics":
            self.retries, self.ooms = event["num_alloc_retries"], event["num_ooms"]

    def books(self):
        return {**self.bytes, "num_alloc_retries": self.retries, "num_ooms": self.ooms}


def run(tree, tmp_path, seed, configuration, mode):
    books, capture = tmp_path / "books.json", tmp_path / "capture"
    device = {"MEMOIR_SIM_GPU": "l4", "MEMOIR_SIM_MEMORY": "1GiB", "MEMOIR_SIM_DEVICES": 2, "PYTORCH_CUDA_ALLOC_CONF": configuration}
    command = [sys.executable, PROGRAM, seed, books, capture, *mode]
    if not mode:
        command = [tree / "bin/memoir", "run", "-q", "-o", capture, "--", *command]
    env = environment(tree, **device, PYTHONPATH=tree / "lib/memoir/python")
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(books.read_text()), capture


def memoir(tree, *arguments):
    done = subprocess.run([tree / "bin/memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "seed, configuration, mode",
    [(1, "", ()), (2, "expandable_segments:True", ()), (3, "roundup_power2_divisions:4", ("--warm",)), (4, "max_split_size_mb:21", ()),
     (5, "expandable_segments:True", ("--warm",))],
)  # fmt: skip
def test_the_capture_is_what_torch_says(tree, tmp_path, seed, configuration, mode):
    books, capture = run(tree, tmp_path, seed, configuration, mode)
    devices, compared = {}, 0
    for line in memoir(tree, "export", "events", capture).splitlines():
        event = json.loads(line)
        if event.get("device", "").startswith("cuda"):
            devices.setdefault(event["device"], Device()).take(event)
        if event["event"] == "range_begin" and event["name"].startswith("books "):
            row = books[int(event["name"].split()[1])]
            for name, device in devices.items():
                assert device.books() == row[name], (event["name"], name, row["what"])
            compared += 1
    assert compared == len(books) == 250 and set(devices) == {"cuda:0", "cuda:1"}
    assert books[-1]["cuda:0"]["num_ooms"] > 0 and books[-1]["cuda:0"]["num_alloc_retries"] > 0, "the budget is small enough to be met"

    report = json.loads(memoir(tree, "show", "--json", capture))
    assert report["dropped_events"] == report["lost_records"] == report["statistics_mismatches"] == report["unmatched_deallocations"] == 0
    for shown in report["devices"]:
        if not shown["device"].startswith("cuda"):
            continue
        last = books[-1][shown["device"]]
        assert shown["num_ooms"] == last["num_ooms"] and shown["num_alloc_retries"] == last["num_alloc_retries"]
        for what in ("allocated", "active", "reserved"):
            assert shown[f"peak_{what}_bytes"] >= max(row[shown["device"]][f"{what}_bytes.all"] for row in books)
        columns = [part for row in report["operators"] for part in row.get("devices", []) if part["device"] == shown["device"]]
        assert sum(part["bytes_at_peak"] for part in columns) == shown["peak_allocated_bytes"]
        assert sum(part["allocated_bytes"] for part in columns) == shown["allocated_bytes"]
