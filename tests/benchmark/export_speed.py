"""Time, memory and output size of each `memoir export`, on a capture of about N events of a real training program (category_speed.py's) and of a synthetic one
(summary_speed's): export_speed.py [--memoir PATH] [--summary-speed PATH] [--events 10000000] [--captures ...]

Microseconds are processor time; seconds are wall time, which a busy machine makes longer.
"""

import argparse
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from category_speed import EVENTS_IN_A_STEP, measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
EXPORTS = ("arrow", "arrow --tables blocks", "arrow --tables events", "parquet", "parquet --tables blocks", "parquet --tables events", "sqlite", "events", "tree", "categories", "collapsed",
           "speedscope", "pprof", "perfetto", "chrome")  # fmt: skip


def size_of(path):
    return sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))


def rows(memoir, capture, folder, exports):
    shown = json.loads(subprocess.run([memoir, "show", "--json", "--top", "1", capture], check=True, capture_output=True).stdout)
    print(f"{pathlib.Path(capture).name}: {shown['events']:,} events, {sum(process['file_bytes'] for process in shown['processes']) / 2**20:.0f} MiB")
    print(f"{'export':28}{'seconds':>9}{'of CPU':>8}{'µs/event':>10}{'MiB':>7}{'file MiB':>10}")
    for export in exports:
        what, *options = export.split()
        output, before = folder / "output", resource.getrusage(resource.RUSAGE_CHILDREN)
        _, seconds, mebibytes = measured(memoir, "export", what, *options, capture, "-o", output)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{export:28}{seconds:9.2f}{processor:8.2f}{1e6 * processor / shown['events']:10.2f}{mebibytes:7.0f}{size_of(output) / 2**20:10.1f}", flush=True)
        shutil.rmtree(output) if output.is_dir() else output.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--summary-speed", default=str(ROOT / "build" / "dev" / "tests" / "benchmark" / "summary_speed"))
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--captures", nargs="*", default=[], help="captures that are there already, instead")
    parser.add_argument("--exports", nargs="*", default=EXPORTS)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        for capture in arguments.captures:
            rows(arguments.memoir, capture, folder, arguments.exports)
        if arguments.captures:
            return
        steps = str(max(1, arguments.events // EVENTS_IN_A_STEP))
        command = [sys.executable, HERE / "category_speed.py", "--train", steps]
        subprocess.run([arguments.memoir, "run", "-q", "-o", folder / "training", "--", *command], check=True)
        rows(arguments.memoir, folder / "training", folder, arguments.exports)
        (folder / "synthetic").mkdir()
        subprocess.run([arguments.summary_speed, "--write", str(arguments.events), folder / "synthetic"], check=True)
        rows(arguments.memoir, folder / "synthetic", folder, arguments.exports)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
