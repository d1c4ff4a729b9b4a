"""torch.profiler is the reference: for plain training scripts with frozen results, the bytes created inside each region
(`with record_function("oracle::region")`) must be the bytes that torch.profiler reported as created there.

The scripts and results are not part of this repository: MEMOIR_TEST_ORACLE names their folder (workloads/*.py, expected/*.json).
"""

import glob
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve()
ORACLE = pathlib.Path(os.environ.get("MEMOIR_TEST_ORACLE", HERE.parents[3] / "shared" / "oracle"))
EXPECTED = sorted(glob.glob(str(ORACLE / "expected" / "*.json")))


def created(scope):
    return sum(row[2] for row in scope.get("timeline", []) if row[1] == "CREATE" and row[5] == "cpu")


def regions(path):
    scopes = json.loads(pathlib.Path(path).read_text())["scopes"]
    return {name: created(scope) for name, scope in scopes.items() if name.startswith("region")}


def show(tree, capture, *options):
    done = subprocess.run([tree / "bin" / "memoir", "show", capture, "--json", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not EXPECTED, reason=f"no reference results in {ORACLE}; set MEMOIR_TEST_ORACLE")
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: pathlib.Path(path).stem)
def test_bytes_created_in_each_region(tree, tmp_path, expected):
    workload = ORACLE / "workloads" / (pathlib.Path(expected).stem + ".py")
    capture = tmp_path / "capture"
    done = subprocess.run(
        [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, workload],
        capture_output=True, text=True, env={**os.environ, "DEVICE": "cpu"})
    assert done.returncode == 0, done.stderr
    whole = show(tree, capture)
    assert whole["dropped_events"] == 0

    want = regions(expected)
    assert want, "a reference result without a region tests nothing"
    for name, created_bytes in want.items():
        number = int(name.removeprefix("region"))
        seen = show(tree, capture, "--range", f"oracle::region#{number}")
        assert sum(row["allocated_bytes"] for row in seen["operators"]) == created_bytes, name
        assert sum(device["allocated_bytes"] for device in seen["devices"]) == created_bytes, name
