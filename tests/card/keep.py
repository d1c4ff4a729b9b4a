"""Makes h100.json from results of measure.py: keep.py RESULTS... [--now RESULTS] > h100.json

Several RESULTS add their arms to one another. --now: results of a later measure.py --arms simulated, which test_card.py holds the simulated card to. Programs
that did not run in all arms are left out; the peaks that Memoir recorded are compared by measure.py.
"""

import argparse
import json
import pathlib

from measure import exact

FIGURES = ("allocated", "active", "reserved", "requested", "end_allocated", "end_reserved", "allocations", "retries", "process_bytes")
PEAKS = ("allocated", "reserved")


def merged(paths):
    programs = {}
    for path in paths:
        for name, arms in json.loads(path.read_text()).items():
            ran = {arm: found for arm, found in arms.items() if arm != "difference" and "failed" not in found}
            programs.setdefault(name, {}).update(ran)
    return programs


def kept(arms, now):
    real = {key: arms["real"][key] for key in FIGURES}
    if arms["real"]["error"]:
        real["error"] = arms["real"]["error"].split(" Process ")[0]   # of others that used the card
    row = {"real": real, "recorded_exactly": [detail for detail in ("full", "auto") if exact(arms[detail])], "before": {key: arms["simulated"][key] for key in PEAKS}}
    return {**row, "now": {key: now["simulated"][key] for key in PEAKS}} if now else row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--now", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    programs, later = merged(options.results), merged(options.now)
    rows = {name: kept(arms, later.get(name)) for name, arms in programs.items() if {"real", "simulated", "full", "auto"} <= set(arms)}
    machine = next(arms["real"] for arms in programs.values() if "real" in arms)
    print(f'{{"card": {json.dumps(machine["device"])}, "torch": {json.dumps(machine["torch"])},\n"programs": {{')
    print(",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()))
    print("}}")


if __name__ == "__main__":
    main()
