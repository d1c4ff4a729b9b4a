"""Programs that ran on a card (h100.json) use the same bytes on the simulated card as on the day of the comparison, so docs/tested/real_card.md stays true."""

import json
import pathlib
import subprocess
import sys

import pytest

from measure import SIMULATED, environment

HERE = pathlib.Path(__file__).parent
MEASURED = {name: figures for name, figures in json.loads((HERE / "h100.json").read_text())["programs"].items() if "now" in figures}


@pytest.mark.in_turn(always=4)
@pytest.mark.parametrize("name", MEASURED)
def test_takes_what_it_took(tree, tmp_path, name):
    command = [tree / "bin/memoir", *SIMULATED, sys.executable, HERE / "programs.py", name, "-"]
    done = subprocess.run(list(map(str, command)), env=environment(name, tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    figures = MEASURED[name]
    assert {key: found[key] for key in ("allocated", "reserved")} == figures["now"], {key: figures["real"][key] for key in ("allocated", "reserved")}
    assert (found["error"] != "") == ("error" in figures["real"])
