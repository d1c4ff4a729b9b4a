"""Programs for a comparison of a real card with the simulated one: `python programs.py NAME FILE` runs one, and prints as JSON what torch says of its memory.

Nothing here knows of Memoir. With CARD_HISTORY=1 FILE gets each event of torch's own history of the allocator. They were written before any of them had run on a
card, and are not changed until they agree.
"""

import collections
import gzip
import json
import os
import sys

import torch

import allocator  # noqa: F401 (these register programs)
import convolutions  # noqa: F401
import libraries  # noqa: F401
import packages  # noqa: F401
import transformers_and_experts  # noqa: F401
from registry import PROGRAMS


def events_of(snapshot):
    """Each as [action, size, stream, place in its segment]: where blocks lie without the driver's addresses."""
    streams, starts, rows = {}, [], []
    for event in snapshot["device_traces"][0]:
        action, address, size = event["action"], event.get("addr", 0), event["size"]
        if action in ("segment_alloc", "segment_map"):
            starts.append((address, size))
        base = next((begin for begin, length in reversed(starts) if begin <= address < begin + length), address)
        rows.append([action, size, streams.setdefault(event["stream"], len(streams)), address - base])
    return rows


def main(name, file):
    if os.environ.get("CARD_HISTORY"):
        torch.cuda.memory._record_memory_history(max_entries=4000000, context=None)
    torch.cuda.init()
    total = torch.cuda.mem_get_info()[1]
    torch.manual_seed(0)
    error = ""
    try:
        PROGRAMS[name]()
    except torch.OutOfMemoryError as raised:
        error = str(raised).split(" Of the allocated")[0]
    torch.cuda.synchronize()
    statistics = torch.cuda.memory_stats()
    found = {"name": name, "torch": torch.__version__, "device": torch.cuda.get_device_name(), "total": total, "error": error,
             **{key: statistics[f"{key}_bytes.all.peak"] for key in ("allocated", "active", "reserved", "requested")},
             "end_allocated": statistics["allocated_bytes.all.current"], "end_reserved": statistics["reserved_bytes.all.current"],
             "allocations": statistics["allocation.all.allocated"], "retries": statistics["num_alloc_retries"]}
    if os.environ.get("CARD_HISTORY"):
        rows = events_of(torch.cuda.memory._snapshot())
        found["events"] = dict(collections.Counter(row[0] for row in rows))
        with gzip.open(file, "wt") as out:
            json.dump(rows, out)
    try:
        import pynvml
        pynvml.nvmlInit()
        of_this = [process.usedGpuMemory for process in pynvml.nvmlDeviceGetComputeRunningProcesses(pynvml.nvmlDeviceGetHandleByIndex(0)) if process.pid == os.getpid()]
        found["process_bytes"] = of_this[0] if of_this else None
    except Exception as reason:
        found["process_bytes"] = None
        found["nvml"] = str(reason)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
