"""Recordings with little to record, or with a device that is no longer there: right numbers, and no useless line."""

import json
import shutil
import subprocess
import sys

import pytest

from simulation import environment


def record(tree, folder, source, *arguments, starter=(), **variables):
    """The program's last line, the recording's messages, and the answer of `show --json`."""
    command = [tree / "bin/memoir", "run", "-o", folder, "--", *starter, sys.executable, "-c", source, *arguments]
    env = environment(tree, **{"MEMOIR_SIM_GPU": "a100-40", **variables})
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    report = subprocess.run([tree / "bin/memoir", "show", "--json", folder], capture_output=True, text=True, timeout=120, check=True)
    (line, *_) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(line), done.stderr, json.loads(report.stdout)


def test_a_process_that_never_touches_cuda(tree, tmp_path):
    found, said, report = record(tree, tmp_path / "capture", "import json, torch; x = torch.ones(1 << 20); print(json.dumps({'initialized': torch.cuda.is_initialized()}))")
    assert found == {"initialized": False} and "CUDA" not in said
    assert [row["device"] for row in report["devices"]] == ["cpu"] and report["devices"][0]["live_bytes_at_end"] >= 4 << 20
    assert report["dropped_events"] == report["unmatched_deallocations"] == 0


NO_MODULES = '''
import json, torch
kept = [torch.zeros(n << 20, dtype=torch.uint8, device="cuda") for n in (1, 3, 20)]
kept.append(kept[2][: 5 << 20] + 1)
del kept[1]
print(json.dumps({what: torch.cuda.memory_stats()[what] for what in ("allocated_bytes.all.current", "allocated_bytes.all.peak", "reserved_bytes.all.peak", "allocated_bytes.all.allocated")}))
'''


def test_no_modules(tree, tmp_path):
    found, said, report = record(tree, tmp_path / "capture", NO_MODULES)
    (device,) = [row for row in report["devices"] if row["device"] == "cuda:0"]
    names = ("live_bytes_at_end", "peak_allocated_bytes", "peak_reserved_bytes", "allocated_bytes")
    assert [device[name] for name in names] == list(found.values())
    by_module = [tree / "bin/memoir", "show", "--device", "cuda:0", "--by", "module", tmp_path / "capture"]
    shown = subprocess.run(by_module, capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0 and shown.stdout, shown.stderr


LIMITED = '''
import json, torch
torch.cuda.set_per_process_memory_fraction(0.25, 0)
limit = int(torch.cuda.get_device_properties(0).total_memory * 0.25)
try:
    torch.empty(limit + (64 << 20), dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda:1")
except torch.cuda.OutOfMemoryError:
    pass
print(json.dumps({"limit": limit, "total": torch.cuda.get_device_properties(1).total_memory}))
'''


def test_out_of_memory_knows_the_limit(tree, tmp_path):
    found, _, _ = record(tree, tmp_path / "capture", LIMITED, MEMOIR_SIM_DEVICES=2)
    exported = subprocess.run([tree / "bin/memoir", "export", "events", tmp_path / "capture"], capture_output=True, text=True, timeout=120, check=True)
    errors = [event for event in map(json.loads, exported.stdout.splitlines()) if event["event"] == "out_of_memory"]
    assert {error["device"]: error["device_limit_bytes"] for error in errors} == {"cuda:0": found["limit"], "cuda:1": found["total"]}


# A card that fell off the bus: from `lose` on every call says cudaErrorDevicesUnavailable.
LOST = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static int lost;
void lose(void) { lost = 1; }
#define CALL(name, parameters, arguments) \\
  int name parameters { \\
    static int (*next) parameters; \\
    if (lost) return 46; \\
    if (!next) next = (int (*) parameters)dlsym(RTLD_NEXT, #name); \\
    return next arguments; \\
  }
CALL(cudaMalloc, (void** p, size_t n), (p, n))
CALL(cudaFree, (void* p), (p))
CALL(cudaMemGetInfo, (size_t* f, size_t* t), (f, t))
CALL(cudaDeviceSynchronize, (void), ())
CALL(cudaStreamSynchronize, (void* s), (s))
CALL(cudaMemcpyAsync, (void* d, const void* s, size_t n, int k, void* t), (d, s, n, k, t))
'''
LOSES = '''
import ctypes, json, sys, torch
kept = [torch.zeros(n << 20, dtype=torch.uint8, device="cuda") for n in (1, 30)]
ctypes.CDLL(sys.argv[1]).lose()
failed = 0
for attempt in (lambda: torch.empty(300 << 20, dtype=torch.uint8, device="cuda"), torch.cuda.synchronize, kept[0].cpu, torch.cuda.mem_get_info):
    try:
        attempt()
    except RuntimeError:
        failed += 1
stats = torch.cuda.memory_stats()
print(json.dumps({"failed": failed, "stats": [stats[f"{what}_bytes.all.{when}"] for what in ("allocated", "reserved") for when in ("current", "peak")]}), flush=True)
'''


def test_a_device_that_disappears(tree, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to make a device disappear with")
    (tmp_path / "lost.c").write_text(LOST)
    library = tmp_path / "liblost.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, tmp_path / "lost.c", "-ldl"], check=True)
    before_all_others = ("sh", "-c", 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"', library)
    found, said, report = record(tree, tmp_path / "capture", LOSES, library, starter=before_all_others)
    (device,) = [row for row in report["devices"] if row["device"] == "cuda:0"]
    assert found["failed"] >= 3 and "Traceback" not in said
    assert [device[name] for name in ("live_bytes_at_end", "peak_allocated_bytes", "reserved_bytes_at_end", "peak_reserved_bytes")] == found["stats"]
    assert report["processes"][0]["end"] == "exited" and report["dropped_events"] == 0
