"""Operators outside of training: attention of four kinds, convolutions, linear algebra, transforms, sparse matrices, types, files, loaders. They run, with each
allocator, and allocate the same as when this was written (traces/operators.txt).
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from simulation import ON_GPU, environment

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE / "traces" / "operators.txt"
CONFIGURATIONS = {"": "segments", "expandable_segments:True": "expandable"}


@pytest.fixture(scope="module", params=CONFIGURATIONS, ids=CONFIGURATIONS.get)
def ran(request, tree):
    env = environment(tree, MEMOIR_SIM_GPU="h100", PYTORCH_CUDA_ALLOC_CONF=request.param)
    done = subprocess.run([sys.executable, HERE / "operator_programs.py"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return request.param, json.loads(done.stdout.splitlines()[-1])


def test_they_run(ran):
    _, found = ran
    wrong = [f"{name}:\n{row}" for name, row in found.items() if isinstance(row, str)]
    assert not wrong and len(found) > 20, "\n".join(wrong)


@pytest.mark.skipif(ON_GPU, reason="the sizes of workspaces are those of the simulated libraries")
def test_what_they_allocate_is_golden(ran):
    """With each allocator the same peaks, of requests; blocks and segments are as they were without segments that grow."""
    configuration, found = ran
    lines = [f"{name} {peak} {allocations} {digest}\n" for name, (peak, allocations, digest) in found.items()]
    if os.environ.get("MEMOIR_UPDATE_GOLDEN") and not configuration:
        GOLDEN.write_text("".join(lines))
    golden = GOLDEN.read_text().splitlines(keepends=True)
    if configuration:
        lines, golden = ([" ".join(line.split()[:3]) for line in text] for text in (lines, golden))
    assert lines == golden, f"MEMOIR_UPDATE_GOLDEN=1 writes {GOLDEN} anew: read the difference"
