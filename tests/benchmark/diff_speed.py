"""The cost of `memoir diff` on two captures of a real training program of 10^5, 10^6 and 10^7 events each, and of `show` on one of them: diff_speed.py
[--memoir PATH] [--events 100000 1000000 10000000]

The program is category_speed.py's; B is a second recording of it with one step more. Each figure is one process's: its processor time, which a busy machine
changes little, and its peak memory.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from category_speed import EVENTS_IN_A_STEP, ROOT


def measured(*command):
    """(standard output, seconds of the processor, MiB)"""
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--events", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    arguments = parser.parse_args()
    program = pathlib.Path(__file__).with_name("category_speed.py")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        print(f"{'':32}{'events':>12}{'seconds':>10}{'µs/event':>10}{'MiB':>8}")
        for wanted in arguments.events:
            steps = max(1, wanted // EVENTS_IN_A_STEP)
            a, b = folder / "a", folder / "b"
            for capture, count in ((a, steps), (b, steps + 1)):
                subprocess.run([arguments.memoir, "run", "-q", "-o", capture, "--", sys.executable, program, "--train", str(count)], check=True)
            events = [json.loads(subprocess.run([arguments.memoir, "show", "--json", one], stdout=subprocess.PIPE, check=True).stdout)["events"] for one in (a, b)]
            rows = [("show --by category", events[0], ["show", "--by", "category", "--json", a])]
            rows += [(f"diff --by {by}", sum(events), ["diff", "--by", by, "--json", a, b]) for by in ("line", "category", "parameter")]
            for name, of_events, command in rows:
                _, seconds, mebibytes = measured(arguments.memoir, *command)
                print(f"{name:32}{of_events:12,}{seconds:10.2f}{1e6 * seconds / of_events:10.2f}{mebibytes:8.0f}", flush=True)
            shutil.rmtree(a)
            shutil.rmtree(b)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
