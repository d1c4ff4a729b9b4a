"""What aarch64 runs is compiled here and runs in qemu, and its tools say what this machine's say. `./dev aarch64` brings what is missing.

qemu changes neither the order of memory accesses nor the page's size as a machine may: docs/compatibility.md says what that leaves open."""

import filecmp
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "aarch64"
SYSTEM = ROOT / "build" / "aarch64-system"
sys.path.insert(0, str(ROOT / "setup"))
import aarch64  # noqa: E402

MISSING = aarch64.missing() or ([] if (SYSTEM / "root.ready").exists() else [str(SYSTEM)])
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"there is no {' or '.join(MISSING)}: ./dev aarch64 brings it")

TESTS = ("interpose_ring_test", "interpose_survival_test", "interpose_slots_test", "interpose_thread_start_test", "interpose_own_thread_test",
         "interpose_nvtx_test", "interpose_driver_watch_test", "interpose_driver_passed_test", "interpose_driver_readings_test",
         "interpose_driver_contexts_test", "interpose_device_calls_test", "writer_round_trip_test", "writer_keyframe_test", "writer_devices_test", "writer_tables_test", "writer_switches_test",
         "simcuda_engine_test")
# Of QEMU 7.2: madvise(MADV_WIPEONFORK) says that it worked and wipes nothing, so a forked child takes the parent's ring for its own; /proc/self/stat says a later
# start than the same process's /proc/<pid>/stat says to others, and so a living process is taken for another one of its number; and no program of
# aarch64's can be started by execve. MADV_REMOVE says that it worked and removes nothing, and to reserve the simulated device's TiB of addresses takes
# minutes: of its tests those that reserve none.
FILTERS = {
    "simcuda_engine_test": "HostMemory*:Communicator*:ContentsTest.*-ContentsTest.ForgettingAPartLeavesTheRestOfItsPages:ContentsTest.AsAnArrayWouldHoldIt",
    "interpose_survival_test": "-ForkTest.*:DescriptorsTest.ADaemonsLogIsLeftAloneByItsOwnRing:KillTest.ARingIsRefusedWhileItsProcessLives:"
                               "KillTest.AProcessIdThatWasUsedAgainIsNotTheOldProcess",
    "interpose_driver_watch_test": "-DriverLoading.LookUpsArePassedOnBetweenRecordings:DriverUnloading.*:DriverWatch.AForkedChildCallsAndRecordsNothing",
}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def emulated(*command, **options):
    return run("qemu-aarch64", "-L", SYSTEM / "root", *command, **options)


@pytest.fixture(scope="session")
def built():
    run("cmake", "--preset", "aarch64", cwd=ROOT)
    run("ninja", "-C", BUILD, "memoir", "memoir_drain", "memoir_interpose", "memoir_write_samples", *TESTS)
    return BUILD


@pytest.mark.parametrize("name", TESTS)
def test_passes_in_qemu(built, name):
    program, = (built / "tests").rglob(name)
    said = emulated(program, f"--gtest_filter={FILTERS.get(name, '*')}")
    passed = int(re.search(r"\[  PASSED  \] (\d+) test", said).group(1))
    skipped = re.search(r"\[  SKIPPED \] (\d+) test", said)
    assert passed + int(skipped.group(1) if skipped else 0) == int(re.search(r"\[==========\] (\d+) tests? from .* ran", said).group(1)) and passed > 0


PRELOADED = """
import ctypes, platform, threading
thread = threading.Thread(target=print, args=(platform.machine(),)); thread.start(); thread.join()
print(any("libmemoir_interpose" in line for line in open("/proc/self/maps")), ctypes.CDLL(None).getpid() > 0)
"""


def test_a_program_is_as_before_with_the_interposer(built):
    python = SYSTEM / "root" / "usr" / "bin" / "python3"
    library = built / "interpose" / "libmemoir_interpose.so"
    said = run("qemu-aarch64", "-L", SYSTEM / "root", "-E", f"LD_PRELOAD={library}", python, "-c", PRELOADED)
    assert said.split() == ["aarch64", "True", "True"]


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    run(os.environ.get("MEMOIR_WRITE_SAMPLES") or ROOT / "build" / "dev" / "tests" / "golden" / "memoir_write_samples", folder)
    return folder


def test_writes_the_same_samples(built, samples, tmp_path):
    emulated(built / "tests" / "golden" / "memoir_write_samples", tmp_path)
    files = [path.relative_to(samples) for path in samples.rglob("*") if path.is_file()]
    same, different, absent = filecmp.cmpfiles(samples, tmp_path, files, shallow=False)
    assert len(same) == len(files) > 20 and not different and not absent


@pytest.mark.parametrize("arguments", [["show"], ["show", "--by", "operator"], ["show", "--by", "module"], ["check"]], ids=" ".join)
def test_says_the_same_of_every_sample(built, samples, tree, arguments):
    """--json, byte for byte."""
    for sample in sorted(samples.iterdir()):
        answers = []
        for program in ([tree / "bin" / "memoir"], ["qemu-aarch64", "-L", SYSTEM / "root", built / "tools" / "cli" / "memoir"]):
            done = subprocess.run([*program, *arguments, "--json", sample], capture_output=True, stdin=subprocess.DEVNULL, check=False)
            answers.append((done.returncode, done.stdout, done.stderr))
        assert answers[0] == answers[1], sample.name
        assert answers[0][1] or answers[0][0] != 0, sample.name


# A tracker's imports are torch's, its versions the older system's: whether it loads beside torch, nothing here can tell without torch in qemu.
def test_the_wheel(tmp_path):
    run(sys.executable, ROOT / "setup" / "aarch64.py", "wheel", "--flags-of-tests", "-o", tmp_path)
    wheel, = tmp_path.iterdir()
    assert re.fullmatch(r"memoir-[0-9.]+-py3-none-manylinux_2_28_aarch64\.whl", wheel.name), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("memoir/_tree/") for name in archive.namelist()}
        machines = {name: archive.read(name)[18:20] for name in archive.namelist() if archive.read(name)[:4] == b"\x7fELF"}
        archive.extractall(tmp_path / "content")
    assert names >= {"bin/memoir", "libexec/memoir/memoir-drain", "lib/memoir/libmemoir_interpose.so", "lib/memoir/libmemoir_tracker-torch2.11.so",
                     "lib/memoir/libmemoir_tracker-torch2.15.so", "lib/memoir/simulated/libcuda.so.1"}
    assert set(machines.values()) == {(183).to_bytes(2, "little")}, machines
    version = (ROOT / "VERSION").read_text().strip()
    program = tmp_path / "content" / "memoir" / "_tree" / "bin" / "memoir"
    assert version in emulated(program, "--version")
    assert version in run("qemu-aarch64", "-L", SYSTEM / "old", program, "--version")
