"""Categories by torch's rules: for plain training scripts with frozen results of torch.profiler's memory profiler, what `memoir export categories` says of
each region, as if recording had begun with it, and of the whole program.

The scripts, results and the comparison are not part of this repository: MEMOIR_TEST_ORACLE names their folder (workloads/*.py, expected/*.json, compare.py).
"""

import collections
import glob
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import conformance

HERE = pathlib.Path(__file__).resolve()
ORACLE = pathlib.Path(os.environ.get("MEMOIR_TEST_ORACLE", HERE.parents[3] / "shared" / "oracle"))
EXPECTED = sorted(glob.glob(str(ORACLE / "expected" / "*.json")))
# Ranges that torch makes only while its profiler runs: `if torch.autograd.profiler._is_profiler_enabled` in torch/_dynamo/utils.py
# (record_pregraph_bytecode_enter) and torch/_functorch/_aot_autograd/runtime_wrappers.py (record_runtime_wrapper_prologue_enter).
ONLY_UNDER_TORCH_PROFILER = {"Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue"}
SECTIONS = ["timeline", "totals", "data_flow", "schemas", "tree"]
# The scripts' own facts about their tensors at the end of each region, which Memoir's rules must confirm.
ROLES = {"parameter": "PARAMETER", "leaf_requiring_grad": "PARAMETER", "gradient": "GRADIENT", "optimizer_state": "OPTIMIZER_STATE", "buffer": "BUFFER"}


def load_compare():
    spec = importlib.util.spec_from_file_location("oracle_compare", ORACLE / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_the_profilers_own(scope):
    def name(row):
        return row[0] if isinstance(row, list) else row.strip()

    return {section: [row for row in rows if name(row) not in ONLY_UNDER_TORCH_PROFILER] if section in ("schemas", "tree") else rows
            for section, rows in scope.items()}


def categories(tree, capture, scope):
    window = ["--range", f"oracle::region#{scope.removeprefix('region')}", "--forget-before"] if scope.startswith("region") else []
    done = subprocess.run([tree / "bin" / "memoir", "export", "categories", "--rules", "torch", *window, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not EXPECTED, reason=f"no reference results in {ORACLE}; set MEMOIR_TEST_ORACLE")
@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: pathlib.Path(path).stem)
def test_equals_torch_profiler(tree, tmp_path, expected):
    reference = json.loads(pathlib.Path(expected).read_text())
    compare = load_compare()
    capture = tmp_path / "capture"
    workload = ORACLE / "workloads" / (pathlib.Path(expected).stem + ".py")
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, workload], capture_output=True, text=True,
                          env={**os.environ, "DEVICE": "cpu"})
    assert done.returncode == 0, done.stderr
    # Results of torch.profiler that vary from run to run are not compared.
    unsteady = {tuple(entry) for entry in reference.get("nondeterministic", []) + reference.get("unstable", [])}
    with conformance.counted("frozen results", pathlib.Path(expected).stem) as count:
        compare_scopes(tree, capture, compare, reference, unsteady, count)
    compare_end_states(tree, capture, reference)


def read(tree, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compare_end_states(tree, capture, reference):
    blocks = json.loads(read(tree, "export", "categories", capture))["blocks"]
    for scope, wanted in reference["scopes"].items():
        held = [(ROLES[role], size) for role, _, _, size, _ in wanted.get("end_state") or [] if size > 0]
        if not held or not scope.startswith("region"):
            continue
        window = f"oracle::region#{scope.removeprefix('region')}"
        events = map(json.loads, read(tree, "export", "events", "--range", window, capture).splitlines())
        end = [event["time_ns"] for event in events if event["event"] == "range_end" and event["name"] == "oracle::region"][-1]
        live = [block for block in blocks if block["allocated_time_ns"] <= end and (block["freed_time_ns"] is None or block["freed_time_ns"] > end)]
        lacking = collections.Counter(held) - collections.Counter((block["category"], block["bytes"]) for block in live)
        assert not lacking, f"{scope}: {lacking}"


def compare_scopes(tree, capture, compare, reference, unsteady, count):
    compared = 0
    for scope, wanted in reference["scopes"].items():
        wanted = without_the_profilers_own(wanted)
        found = compare.compare_scope(wanted, categories(tree, capture, scope), "cpu")
        for section in SECTIONS:
            if section not in wanted or (scope, section) in unsteady:
                continue
            result = found[section]
            assert result["exact"] or result.get("exact_normal"), f"{scope} {section}: {result}"
            compared += 1
        count.blocks += 1
    assert compared >= 2
