"""The counts of the property test of device memory, and docs/tested/exactness.md, made from them.

    MEMOIR_EXACTNESS_PROGRAMS=25 MEMOIR_EXACTNESS_COUNTS=FILE pytest tests/simulated/test_device_books.py     with each torch; adds to FILE
    python tests/simulated/exactness.py FILE                                                                   prints the page
"""

import json
import os
import pathlib
import sys
import textwrap

from test_check_oom import CAUSES
from test_check_oom_outside import VICTIMS

COUNTS = pathlib.Path(__file__).with_name("exactness.json")  # of the run that the page is of
ORIGIN = {"preload": "under `memoir run`, from the start", "warm": "`memoir.start()` with CUDA in use", "restart": "started, stopped and started again in the middle of each program"}


def filled(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def note(torch, configuration, mode, count, faults, difference):
    """A run of the test, added to the file that MEMOIR_EXACTNESS_COUNTS names; without it nothing is kept. `difference`: what was found first; "" for none."""
    path = os.environ.get("MEMOIR_EXACTNESS_COUNTS")
    if path:
        file = pathlib.Path(path)
        runs = json.loads(file.read_text()) if file.exists() else []
        runs.append({"torch": torch, "configuration": configuration, "mode": mode, **count, "faults": faults, "difference": difference})
        file.write_text(json.dumps(runs, indent=1) + "\n")


def page(runs):
    total = {key: sum(run[key] for run in runs) for key in ("programs", "recordings", "operations compared", "events")}
    faults = {kind: sum(run["faults"].get(kind, 0) for run in runs) for kind in sorted({kind for run in runs for kind in run["faults"]})}
    lines = [
        "# Are the figures of torch's CUDA allocator exact?",
        "",
        "This page shows how Memoir's figures of a GPU's memory were compared with torch's own, and with what result.",
        "",
        "Printed by `python tests/simulated/exactness.py` from the counts of one run of",
        "`tests/simulated/test_device_books.py`; not edited by hand.",
        "",
        "**The device was simulated** (two cards of 1 GiB).",
        "The allocator is the unmodified torch's own; the driver below it is not NVIDIA's.",
        "",
        "Random programs allocate, free, free on other threads, use streams and `record_stream`, private pools, graphs with",
        "replays, checkpointed pools as cudagraph trees use them, backward passes, memory fractions and `empty_cache`, and ask",
        "for more than there is.",
        "(Pools and graphs are left out under expandable segments.)",
        "",
        "After **every** operation these are rebuilt from the capture alone and compared with `torch.cuda.memory_stats()`, for",
        "each device: allocated, active and reserved bytes (all, small pool, large pool), requested bytes, retries, OOMs.",
        "One byte of difference anywhere ends a run.",
        "",
        "The count of retries may be late.",
        "If torch's allocator raises an error of the driver instead of an out-of-memory error (seen under expandable segments),",
        "the capture has the retries of this request only from the allocator's next statistics on.",
        f"After {sum(run['retries told late'] for run in runs):,} operations the capture lacked such retries. Nothing else differed.",
        "",
        f"| programs | recordings | operations after which all was compared | events | {' | '.join(faults)} | runs that differ |",
        f"|{'---:|' * (5 + len(faults))}",
        f"| {total['programs']:,} | {total['recordings']:,} | {total['operations compared']:,} | {total['events']:,} | {' | '.join(f'{n:,}' for n in faults.values())} | {sum(run['difference'] != '' for run in runs)} |",
        "",
        "| torch | allocator's settings | recorded | programs | operations | events | |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for run in runs:
        numbers = f"{run['programs']:,} | {run['operations compared']:,} | {run['events']:,}"
        lines.append(f"| {run['torch']} | `{run['configuration']}` | {ORIGIN[run['mode']]} | {numbers} | {run['difference'] or 'exact'} |")
    lines += [
        "",
        f"**Out-of-memory errors** of {len(CAUSES) + len(VICTIMS)} kinds were injected one by one.",
        "`memoir check oom` names for each who asked and who held the memory.",
        filled(f"Of torch's allocator (`tests/simulated/test_check_oom.py`): {', '.join(f'{case} ({cause})' for case, cause in CAUSES.items())}."),
        filled(f"Outside of it (`tests/simulated/test_check_oom_outside.py`): {', '.join(f'{kind} of {library}' for kind, library, *_ in VICTIMS.values())}."),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(json.loads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else COUNTS).read_text())), end="")
