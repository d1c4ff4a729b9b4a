"""The plain scripts of the folder MEMOIR_TEST_ORACLE (test_categories.py), and tensor_programs.py, live: each region runs under torch.profiler and is recorded
by Memoir in one process, with equal results number by number, on the CPU and on the simulated GPU. With the installed torch; the frozen results belong to one
torch."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import conformance
import profile_text
from test_categories import ORACLE

PROGRAM = pathlib.Path(__file__).with_name("oracle_live.py")
RANGE = re.search(r'^RANGE = "(.*)"', PROGRAM.read_text(), re.M).group(1)
SCRIPTS = [*sorted((ORACLE / "workloads").glob("*.py")), PROGRAM.with_name("tensor_programs.py")]
SUITES = {"cpu": "scripts", "cuda": "scripts on a GPU"}


@pytest.fixture(scope="module", params=SUITES)
def recorded(tree, tmp_path_factory, request):
    """The device, the capture, and by script its regions, each with its number."""
    device = request.param
    if device == "cuda" and not (tree / "lib/memoir/libmemoir_simcuda.so").exists():
        pytest.skip("this tree was built without the simulated device")
    folder = tmp_path_factory.mktemp("oracle")
    capture, answers = folder / "capture", folder / "answers.json"
    simulate = ["--simulate", "h100"] if device == "cuda" else []
    command = [tree / "bin" / "memoir", "run", *simulate, "-q", "-o", capture, "--", sys.executable, PROGRAM, answers, *SCRIPTS]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "DEVICE": device})
    assert done.returncode == 0, done.stderr[-2000:]
    regions = {}
    for number, region in enumerate(json.loads(answers.read_text())):
        regions.setdefault(region["script"], []).append((number, region["torch"]))
    return device, capture, regions


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_equals_torch_profiler(tree, recorded, script):
    device, capture, regions = recorded
    with conformance.counted(SUITES[device], script.stem) as count:
        for number, torch in regions[script.stem]:
            command = [tree / "bin" / "memoir", "export", "categories", "--rules", "torch", "--forget-before", "--range", f"{RANGE}#{number}", capture]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            wanted = profile_text.normal(torch, first=1)
            found = profile_text.normal(json.loads(done.stdout), annotations=torch["annotations"])
            for section in profile_text.SECTIONS:
                assert found[section] == wanted[section], f"region {number}: {section}"
            count.blocks += 1
        assert count.blocks > 0
