"""Compares this machine's GPU with the simulated one, program by program: measure.py --tree build/install --out FOLDER [--jobs 8] [--only NAME,...] [--arms full,auto]

Each program of programs.py is run four times in separate processes, or once for each name in --arms:

  real        on the card, with torch's own history of the allocator
  simulated   the same on the simulated card: peaks and every event are compared with `real`
  full, auto  on the card, recorded by Memoir with that detail: the figures of `memoir show` are compared with torch's statistics at the end of the same process

FOLDER/results.json gets the figures and, if events differ, the events around the first difference.
"""

import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE / "programs.py"
AROUND = 12
CONFIGURATION = {"expandable": "expandable_segments:True"}
PEAKS = ("allocated", "active", "reserved")
SIMULATED = ("run", "-q", "--simulate", "h100", "--start", "off", "--")  # options of memoir that simulate the card and record nothing


def environment(name, folder, **variables):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTORCH_"))}
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / f"inductor-{name}"), "TRITON_CACHE_DIR": str(folder / f"triton-{name}"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    settings = {"PYTORCH_ALLOC_CONF": CONFIGURATION[name]} if name in CONFIGURATION else {}
    return {**clean, **caches, **settings, "OMP_NUM_THREADS": "2", **variables}


def run(command, name, folder, **variables):
    begin = time.monotonic()
    done = subprocess.run(list(map(str, command)), env=environment(name, folder, **variables), capture_output=True, text=True, timeout=200, cwd=folder)
    said = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not said:
        return {"failed": done.returncode, "stderr": done.stderr[-1500:]}
    return {**json.loads(said[-1]), "seconds": time.monotonic() - begin, "stderr": done.stderr[-600:]}


def recorded(memoir, detail, name, folder):
    capture = folder / f"{name}.{detail}"
    found = run([memoir, "run", "-q", "-o", capture, "--detail", detail, "--", sys.executable, PROGRAMS, name, "-"], name, folder)
    if "failed" in found:
        return found
    shown = subprocess.run([memoir, "show", "--json", capture], capture_output=True, text=True, timeout=100)
    if shown.returncode != 0:
        return {"failed": shown.returncode, "stderr": shown.stderr[-1500:]}
    report = json.loads(shown.stdout)
    device = next((device for device in report["devices"] if device["device"].startswith("cuda")), {})
    differs = {key: [found[key], device.get(f"peak_{key}_bytes")] for key in PEAKS if found[key] != device.get(f"peak_{key}_bytes")}
    if found["allocations"] != device.get("allocations"):
        differs["allocations"] = [found["allocations"], device.get("allocations")]
    return {**found, "differs": differs, "mismatches": report["keyframe_mismatches"], "dropped": report["dropped_events"],
            "device_name": device.get("name"), "known_steps": [process.get("known_steps") for process in report["processes"]]}


def compare(real, simulated):
    """Returns the place of the first difference, with the events around it. None if all events are equal."""
    for place, (one, other) in enumerate(zip(real, simulated)):
        if one != other:
            break
    else:
        if len(real) == len(simulated):
            return None
        place = min(len(real), len(simulated))
    begin = max(0, place - AROUND)
    sizes = [collections.Counter((row[0], row[1]) for row in rows) for rows in (real, simulated)]
    return {"place": place, "of": [len(real), len(simulated)], "real": real[begin:place + AROUND], "simulated": simulated[begin:place + AROUND],
            "more on the card": sorted(map(list, (sizes[0] - sizes[1]).items()))[:60], "more on the simulated": sorted(map(list, (sizes[1] - sizes[0]).items()))[:60]}


def measure(name, arms, memoir, folder):
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    program, found, difference = [sys.executable, PROGRAMS, name], {}, "not compared"
    for arm in arms:
        if arm in ("full", "auto"):
            found[arm] = recorded(memoir, arm, name, folder)
        else:
            found[arm] = run([*([memoir, *SIMULATED] if arm == "simulated" else []), *program, folder / f"{arm}.gz"], name, folder, CARD_HISTORY="1")
    if {"real", "simulated"} <= set(arms) and not any("failed" in found[arm] for arm in ("real", "simulated")):
        difference = compare(*(json.load(gzip.open(folder / f"{arm}.gz", "rt")) for arm in ("real", "simulated")))
    return name, found, difference


def exact(found):
    """Whether Memoir's figures equal torch's statistics and no event was dropped."""
    return "failed" not in found and not found["differs"] and not found["mismatches"] and not found["dropped"]


def line(name, found, difference):
    real, simulated = found.get("real", {}), found.get("simulated", {})
    if not real or not simulated:
        text = "not compared"
    elif "failed" in real or "failed" in simulated:
        text = "failed: " + ", ".join(arm for arm in ("real", "simulated") if "failed" in found[arm])
    else:
        errors = {key: simulated[key] - real[key] for key in PEAKS}
        text = "events equal" if difference is None else f"events differ at {difference['place']} of {difference['of']}"
        text += f", peaks {errors}, process {real['process_bytes']} B" + (f", error: {real['error'][:90]}" if real["error"] else "")
    for detail, one in found.items():
        if detail not in ("full", "auto"):
            continue
        text += f"; {detail} {'exact' if exact(one) else 'NOT: ' + json.dumps({key: one.get(key) for key in ('failed', 'differs', 'mismatches', 'dropped')})}"
    return f"{name}: {text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/memoir-card"))
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only")
    parser.add_argument("--arms", default="real,simulated,full,auto")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(HERE))
    import programs
    names = options.only.split(",") if options.only else list(programs.PROGRAMS)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(measure, name, options.arms.split(","), options.tree.resolve() / "bin/memoir", options.work) for name in names]
        for done in concurrent.futures.as_completed(waiting):
            try:
                name, found, difference = done.result()
            except Exception as reason:
                print("failed:", repr(reason)[:500], flush=True)
                continue
            results[name] = {**found, "difference": difference}
            print(line(name, found, difference), flush=True)
            (options.out / "results.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
