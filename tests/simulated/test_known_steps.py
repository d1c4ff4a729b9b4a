"""--detail auto on a GPU: steps that repeat are recorded without operators; every block has the operator and category that --detail full gives it."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import pytest

import same_blocks

PROGRAMS = pathlib.Path(__file__).parent / "known_steps"


@dataclasses.dataclass
class Case:
    """A program; how many steps it marks, how many of them at most are recorded in full, and at whose peaks not all is known: they begin as known ones.

    `fewer`: of a program without marks, whose calls of a module are steps from the 16th on; full has all of them.
    """

    program: str
    steps: int
    in_full: int
    missed: tuple = ()
    options: tuple = ()
    compiles: bool = False
    fewer: int = 0


CASES = [
    # memoir.step() begins with step 0, which makes the optimizer's state: it is like no other. Marks of an optimizer begin behind it.
    Case("transformer", 14, 4),
    # Until the steps with an evaluation are known, which come each fifth time, what follows them is recorded in full, too.
    Case("images", 18, 10),
    # Step 16 has another length.
    Case("sequences", 24, 11, (16,)),
    Case("experts", 16, 6),
    Case("experts uneven", 16, 16),
    Case("adversarial", 24, 7),
    Case("rollout", 24, 13),
    Case("accumulation", 13, 3),
    Case("checkpointing", 12, 3),
    Case("generation", 14, 7),
    Case("sharded 1", 12, 3, options=("--sim-world", 2)),
    Case("sharded 2", 12, 3, options=("--sim-world", 2)),
    Case("compiled", 14, 4, compiles=True),
    Case("generation unmarked", 97, 48, fewer=15),
    Case("serving", 25, 6, fewer=15),
    # Five calls of the model and the first that trains it are steps until the optimizer has stepped.
    Case("evaluated", 20, 7, fewer=-6),
]


def caches(folder):
    """For a program that compiles. Kernels that are not cached are timed, so no two runs allocate the same."""
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


def record(tree, folder, case, detail):
    name, *arguments = case.program.split()
    capture, program = folder / detail, [sys.executable, PROGRAMS / f"{name}.py", *arguments]
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--simulate", "h100", "--detail", detail, *case.options, "--", *program]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, env=caches(folder))
    assert done.returncode == 0, done.stderr[-3000:]
    return capture


def show(tree, capture):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def figures(report):
    """The figures of each device that are exact at every detail."""
    names = ("peak_allocated_bytes", "peak_active_bytes", "peak_reserved_bytes", "allocations", "allocated_bytes", "deallocated_bytes", "live_bytes_at_end")
    return {device["device"]: {name: device.get(name) for name in names} for device in report["devices"] if device["device"].startswith("cuda")}


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program)
def test_what_is_inferred_is_what_is_recorded(tree, tmp_path, case):
    details = ("blocks", "full", "auto") if case.compiles else ("full", "auto")
    captures = {detail: record(tree, tmp_path, case, detail) for detail in details}
    reports = {detail: show(tree, captures[detail]) for detail in ("full", "auto")}
    (process,) = reports["auto"]["processes"]
    steps = process["known_steps"]
    full, auto = (same_blocks.read(tree, captures[detail]) for detail in ("full", "auto"))
    found = same_blocks.compare(full, auto, lambda block: block.device.startswith("cuda"))
    print(f"{case.program}: {steps}\n{found}")
    (thread,) = {blocks.of["cpu"][0].thread for blocks in (full, auto)}
    host = same_blocks.compare(full, auto, lambda block: block.device == "cpu" and block.thread == thread)
    print(f"host:\n{host}")
    assert figures(reports["auto"]) == figures(reports["full"])
    assert reports["auto"]["keyframe_mismatches"] == 0 and reports["auto"]["dropped_events"] == 0
    assert (steps["steps"], len(full.steps) - case.fewer, len(auto.steps)) == (case.steps,) * 3
    assert steps["steps_in_full"] <= case.in_full and (steps["steps_in_full"] == case.steps or steps["inferred_blocks"] > 0)
    assert found.by_time["operator and category"] >= 0.999
    assert host.by_time["operator and category"] >= 0.999 and not host.missed("operator and category")
    # For a step that deviates: the operator that shows it has begun before, and so have its modules.
    assert found.missed("operator and category") == case.missed
    assert min(found.at_peaks["operator and category"]) >= 0.99
