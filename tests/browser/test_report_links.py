"""The address of a report's page: a copied link opens the same, and Back and Forward work."""

import json
import subprocess
import sys

from programs import TRAINING
from test_report_page import BROWSER, HERE, browser, memoir

__all__ = ["browser"]  # a fixture


def test_links_and_history(tree, browser, tmp_path):
    (tmp_path / "program.py").write_text(TRAINING)
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", tmp_path / "capture", "--", sys.executable, tmp_path / "program.py"], timeout=300)
    assert done.returncode == 0
    assert memoir(tree, "report", tmp_path / "capture", "-o", tmp_path / "report.html").returncode == 0
    done = subprocess.run(["node", HERE / "check_links.mjs", tmp_path / "report.html"], capture_output=True, text=True, timeout=280, env=BROWSER)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    addresses = [one["address"] for one in seen["places"]]
    assert [address.partition(";")[0] for address in addresses] == ["", "#overview", "#timeline", "#timeline", "#modules", "#flame", "#flame"]
    assert len(set(addresses)) == len(addresses)
    assert seen["copied"] == [one["place"] for one in seen["places"]]
    assert seen["back"] == seen["places"][0]["place"]
    assert {"timeline", "modules", "flame", "overview"} <= set(seen["views"])
    assert seen["forward"] == seen["places"][-1]["place"]
    # Values that the report does not have are ignored.
    assert [one["view"] for one in seen["wrong"]] == ["overview", "flame", "overview"]
    assert all(one["said"] == [] for one in seen["wrong"])
    assert seen["said"] == []
