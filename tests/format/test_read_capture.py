"""docs/capture_format.md and proto/ suffice to write a reader: examples/read_capture.py gives the totals of `memoir show --json`."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import EXAMPLE

TRAINING = '''
import sys, torch
import torch.nn.functional as F
torch.set_num_threads(1)
device, steps = sys.argv[1], int(sys.argv[2])
model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4))).to(device)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(steps):
    optimizer.zero_grad()
    F.relu(model(torch.randn(32, 64, device=device))).pow(2).sum().backward()
    optimizer.step()
'''
DIES = '''
import os, sys, torch
class Dies(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        torch.ones(1000, device=gradient.device)
        if sys.argv[2] == "raises":
            raise RuntimeError("no gradient")
        os.kill(os.getpid(), 9)
layer = torch.nn.Linear(256, 256, device=sys.argv[1])
layer(Dies.apply(layer(torch.randn(64, 256, device=sys.argv[1])))).sum().backward()
'''
# In the middle of a step's backward pass.
KILLED = TRAINING.replace("for step", """
class Dies(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        if step == steps - 1:
            os.kill(os.getpid(), 9)
        return gradient
for step""").replace("import sys", "import os, sys").replace("F.relu(model(", "F.relu(Dies.apply(model(").replace("device=device)))", "device=device))))")
# Four threads that free what others have allocated, so that events of an address come out of order.
THREADS = '''
import queue, threading, torch
blocks = queue.Queue(8)
def make():
    for size in range(1, 1500):
        blocks.put(torch.empty(size % 97 + 1))
def take():
    for _ in range(1499):
        blocks.get()
threads = [threading.Thread(target=work) for work in (make, take, make, take)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
'''
SWITCHED = '''
import memoir, torch
kept = [torch.ones(100)]
memoir.pause()
kept.append(torch.ones(1000))
memoir.resume()
kept.append(torch.ones(10))
'''
SIMULATED = ("--simulate", "h100")
SUMS = ("events", "operator_calls", "dropped_events", "lost_records", "lost_chunks")
OF_DEVICES = ("allocations", "allocated_bytes", "peak_allocated_bytes", "peak_active_bytes", "peak_reserved_bytes", "live_bytes_at_end")


def of_devices(devices, pid_of):
    """Unknown values are null in `show --json`; devices without events are left out."""
    return {(pid_of(device), device["device"]): {key: device[key] for key in OF_DEVICES if device.get(key) is not None} for device in devices}


def assert_same(read, shown):
    assert {key: read[key] for key in SUMS} == {key: shown[key] for key in SUMS}
    assert len(read["damage"]) == len(shown["damage"]), (read["damage"], shown["damage"])
    expected = of_devices(shown["devices"], lambda device: shown["processes"][device["process"]]["pid"])
    found = of_devices(read["devices"], lambda device: device["pid"])
    for device, sums in expected.items():
        mine = found.pop(device, {})
        assert {key: mine.get(key, 0) for key in sums} == sums, device
    assert not any(any(sums.values()) for sums in found.values()), "devices that `show` does not have"


def memoir_run(tree, output, *options, command, returncode=0):
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", output, *options, "--", *map(str, command)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == returncode, done.stderr
    return output


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, source in (("training", TRAINING), ("dies", DIES), ("killed", KILLED), ("threads", THREADS), ("switched", SWITCHED)):
        (folder / f"{name}.py").write_text(source)
    return folder


@pytest.fixture(scope="module")
def simulated(tree, programs, tmp_path_factory):
    output = tmp_path_factory.mktemp("simulated") / "capture"
    return memoir_run(tree, output, *SIMULATED, command=[sys.executable, programs / "training.py", "cuda", 20])


def test_it_is_short_and_needs_two_packages_alone():
    lines = EXAMPLE.read_text().splitlines()
    foreign = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))} - sys.stdlib_module_names
    assert len(lines) <= 200 and foreign == {"capture_pb2", "google", "named_steps", "zstandard"}
    steps = (EXAMPLE.parent / "named_steps.py").read_text().splitlines()   # of recordings with --detail auto
    assert len(steps) <= 50 and {line for line in steps if line.startswith(("import ", "from "))} == {"import itertools", "import capture_pb2 as pb"}


def test_a_recording_on_the_cpu(tree, programs, tmp_path, read, show):
    capture = memoir_run(tree, tmp_path / "capture", command=[sys.executable, programs / "training.py", "cpu", 20])
    totals = read(capture)
    assert_same(totals, show(capture))
    cpu, = totals["devices"]
    assert totals["operator_calls"] > 1000 and cpu["device"] == "cpu" and cpu["peak_allocated_bytes"] > 4 * 64 * 64 * 4 * 4


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_recording_that_names_its_steps(tree, programs, tmp_path, read, show, device):
    options = SIMULATED if device == "cuda" else ()
    capture = memoir_run(tree, tmp_path / "capture", *options, "--detail", "auto", command=[sys.executable, programs / "training.py", device, 200])
    totals, shown = read(capture), show(capture)
    assert_same(totals, shown)
    assert shown["keyframe_mismatches"] == 0 and shown["processes"][0]["known_steps"]["steps_in_full"] < 10
    whole = memoir_run(tree, tmp_path / "whole", *options, "--detail", "blocks", command=[sys.executable, programs / "training.py", device, 200])
    sizes = [sum(part.stat().st_size for part in folder.glob("*.memoir")) for folder in (capture, whole)]
    assert 3 * sizes[0] < 2 * sizes[1], sizes   # the three steps in full included


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_process_that_dies_in_a_named_step(tree, programs, tmp_path, read, show, device):
    options = SIMULATED if device == "cuda" else ()
    command = [sys.executable, programs / "killed.py", device, 150]
    capture = memoir_run(tree, tmp_path / "capture", *options, "--detail", "auto", command=command, returncode=-9)
    totals, shown = read(capture), show(capture)
    assert_same(totals, shown)
    assert totals["lost_records"] == 0 and shown["processes"][0]["known_steps"]["steps"] > 100
    whole = show(memoir_run(tree, tmp_path / "whole", *options, "--detail", "blocks", command=command, returncode=-9))
    peaks = [{device["device"]: device["peak_allocated_bytes"] for device in of["devices"]} for of in (shown, whole)]
    assert peaks[0] == peaks[1]


def test_a_recording_on_a_gpu(simulated, read, show):
    totals = read(simulated)
    assert_same(totals, show(simulated))
    cuda = next(device for device in totals["devices"] if device["device"] == "cuda:0")
    assert cuda["peak_reserved_bytes"] >= cuda["peak_active_bytes"] >= cuda["peak_allocated_bytes"] > 0


def test_blocks_that_other_threads_free(tree, programs, tmp_path, read, show):
    capture = memoir_run(tree, tmp_path / "capture", command=[sys.executable, programs / "threads.py"])
    assert_same(read(capture), show(capture))


def test_several_ranks(tree, programs, tmp_path, read, show):
    ranks = " & ".join(f'MEMOIR_RANK={rank} "$0" "$1" cuda {3 + rank}' for rank in range(3))
    capture = memoir_run(tree, tmp_path / "capture", *SIMULATED, command=["sh", "-c", f"{ranks} & wait", sys.executable, programs / "training.py"])
    totals = read(capture)
    assert_same(totals, show(capture))
    assert {device["rank"] for device in totals["devices"] if device["device"] == "cuda:0"} == {0, 1, 2}


@pytest.mark.parametrize("device, options", [("cpu", ()), ("cuda", SIMULATED)])
def test_a_recording_whose_first_parts_were_evicted(tree, programs, tmp_path, read, show, device, options):
    capture = memoir_run(tree, tmp_path / "capture", *options, "--max-size", "64KiB", command=[sys.executable, programs / "training.py", device, 60])
    shown = show(capture)
    process, = shown["processes"]
    assert process["folded_parts"] > 0 and len(list(pathlib.Path(capture).glob("*.memoir"))) > 1
    assert_same(read(capture), shown)


@pytest.mark.parametrize("device, options", [("cpu", ()), ("cuda", SIMULATED)])
@pytest.mark.parametrize("how, returncode", [("raises", 1), ("is killed", -9)])
def test_a_run_that_died_in_backward(tree, programs, tmp_path, read, show, device, options, how, returncode):
    capture = memoir_run(tree, tmp_path / "capture", *options, command=[sys.executable, programs / "dies.py", device, how], returncode=returncode)
    shown = show(capture)
    assert shown["processes"][0]["end"] == ("exited" if how == "raises" else "merged")
    assert_same(read(capture), shown)


def test_a_recording_that_was_off_for_a_while(tree, programs, tmp_path, read, show):
    capture = memoir_run(tree, tmp_path / "capture", command=[sys.executable, programs / "switched.py"])
    shown = show(capture)
    assert shown["processes"][0]["unknown_blocks"] > 0
    assert_same(read(capture), shown)


def test_of_several_runs_the_newest(tree, programs, tmp_path, read, show):
    for steps in (1, 2):
        capture = memoir_run(tree, tmp_path / "capture", command=[sys.executable, programs / "training.py", "cpu", steps])
    shown = show(capture)
    assert shown["runs"] == 2
    assert_same(read(capture), shown)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.999])
def test_a_part_that_is_cut(simulated, tmp_path, read, show, share):
    capture = shutil.copytree(simulated, tmp_path / "capture")
    part, = capture.glob("*.memoir")
    whole = part.read_bytes()
    part.write_bytes(whole[:int(len(whole) * share)])
    totals = read(capture)
    assert len(totals["damage"]) == 1
    assert_same(totals, show(capture))


def test_cut_in_the_middle_of_several_parts(tree, programs, tmp_path, read, show):
    capture = memoir_run(tree, tmp_path / "capture", "--max-size", "512KiB", command=[sys.executable, programs / "training.py", "cpu", 70])
    parts = sorted(capture.glob("*.memoir"))
    assert len(parts) > 2 and show(capture)["processes"][0]["folded_parts"] == 0
    assert_same(read(capture), show(capture))
    part = parts[len(parts) // 2]
    part.write_bytes(part.read_bytes()[:part.stat().st_size // 2])
    shown = show(capture)
    assert shown["lost_chunks"] > 0 and len(shown["damage"]) == 1
    assert_same(read(capture), shown)


def test_the_sample_captures(samples, read, show):
    names = sorted(path.name for path in samples.iterdir() if path.is_dir())
    assert len(names) > 15
    for name in names:
        try:
            assert_same(read(samples / name), show(samples / name))
        except AssertionError as error:
            raise AssertionError(f"sample {name}") from error


def test_text(simulated, run_example, read):
    done = run_example(simulated)
    cuda = next(device for device in read(simulated)["devices"] if device["device"] == "cuda:0")
    assert done.returncode == 0 and "device cuda:0" in done.stdout and f"peak_allocated_bytes {cuda['peak_allocated_bytes']}" in done.stdout


@pytest.mark.parametrize("content", [None, b"", b"hello", b"\x0a\xff\xff\xff\xff\x7f", b"\x0a\x02\x08\x01"])
def test_strangers_are_refused(tmp_path, run_example, content):
    if content is not None:
        (tmp_path / "a.memoir").write_bytes(content)
    done = run_example(tmp_path)
    assert done.returncode == 1 and done.stdout == "" and done.stderr == f"{tmp_path}: not a capture, or written by a newer Memoir\n"
