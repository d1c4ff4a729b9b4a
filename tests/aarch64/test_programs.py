"""GoogleTest programs of what lives in a recorded process, and the interposer in a program that is not Memoir's."""

import re

import pytest
from conftest import SYSTEM, emulated, run

TESTS = ("interpose_ring_test", "interpose_survival_test", "interpose_slots_test", "interpose_thread_start_test", "interpose_own_thread_test",
         "interpose_nvtx_test", "interpose_driver_watch_test", "interpose_driver_passed_test", "interpose_driver_readings_test",
         "interpose_driver_contexts_test", "interpose_device_calls_test", "writer_round_trip_test", "writer_keyframe_test", "writer_devices_test",
         "writer_tables_test", "writer_switches_test", "writer_drain_test", "writer_failure_test", "writer_host_readings_test", "writer_disk_test",
         "writer_descriptors_test", "simcuda_engine_test")
# Defects of QEMU 7.2. madvise(MADV_WIPEONFORK) reports success and wipes nothing, so a forked child uses the parent's ring. /proc/self/stat reports a later
# start than /proc/<pid>/stat of the same process, so a living process looks like another one with its number. execve cannot start a program of aarch64, only a
# script that starts qemu (tests/writer/CMakeLists.txt). MADV_REMOVE reports success and removes nothing. Reserving the simulated device's TiB of addresses
# takes minutes, so only tests that do not reserve it run.
FILTERS = {
    "simcuda_engine_test": "HostMemory*:Communicator*:ContentsTest.*-ContentsTest.ForgettingAPartLeavesTheRestOfItsPages:ContentsTest.AsAnArrayWouldHoldIt",
    "interpose_survival_test": "-ForkTest.*:DescriptorsTest.ADaemonsLogIsLeftAloneByItsOwnRing:KillTest.ARingIsRefusedWhileItsProcessLives:"
                               "KillTest.AProcessIdThatWasUsedAgainIsNotTheOldProcess",
    "interpose_driver_watch_test": "-DriverLoading.LookUpsArePassedOnBetweenRecordings:DriverUnloading.*:DriverWatch.AForkedChildCallsAndRecordsNothing",
}


@pytest.mark.parametrize("name", TESTS)
def test_passes_in_qemu(build, name):
    program, = (path for path in (build(name) / "tests").rglob(name) if path.is_file())
    said = emulated(program, f"--gtest_filter={FILTERS.get(name, '*')}")
    passed = int(re.search(r"\[  PASSED  \] (\d+) test", said).group(1))
    skipped = re.search(r"\[  SKIPPED \] (\d+) test", said)
    assert passed + int(skipped.group(1) if skipped else 0) == int(re.search(r"\[==========\] (\d+) tests? from .* ran", said).group(1)) and passed > 0


PRELOADED = """
import ctypes, platform, threading
thread = threading.Thread(target=print, args=(platform.machine(),)); thread.start(); thread.join()
print(any("libmemoir_interpose" in line for line in open("/proc/self/maps")), ctypes.CDLL(None).getpid() > 0)
"""


def test_a_program_is_as_before_with_the_interposer(build):
    python = SYSTEM / "root" / "usr" / "bin" / "python3"
    library = build("memoir_interpose") / "interpose" / "libmemoir_interpose.so"
    said = run("qemu-aarch64", "-L", SYSTEM / "root", "-E", f"LD_PRELOAD={library}", python, "-c", PRELOADED)
    assert said.split() == ["aarch64", "True", "True"]
