"""Makes a capture for tests/format/released: records the training of test_read_capture.py with an installed tree, and keeps it with its totals.

    python tests/format/keep_released.py build/install NAME [--early] [OPTIONS of memoir run] -- cpu|cuda STEPS

Once before each release, and whenever what is written changes; what lies there is never written again. --early: as the first
versions wrote it, of which no capture was kept (early.py).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from early import write_early

RELEASED = pathlib.Path(__file__).parent / "released"
OF_PROCESSES = ("rank", "rank_source", "program", "torch_version", "memoir_version", "simulated_device", "events", "parts", "missing_parts", "end",
                "end_message", "folded_events", "folded_parts")


def totals(show, capture):
    """The output that must not change: the numbers of `show --json` and of some other views, without values that depend on the capture's place."""
    summary = show(capture)
    wanted = {key: summary[key] for key in ("events", "operator_calls", "ranges_begun", "step_count", "step_kind", "dropped_events", "lost_records",
                                            "lost_chunks", "damage", "keyframe_mismatches", "statistics_mismatches", "devices")}
    wanted["processes"] = [{key: process[key] for key in OF_PROCESSES} for process in summary["processes"]]
    wanted["operators"] = [[row["name"], row["count"], row["allocated_bytes"]] for row in summary["operators"]]
    for by in ("category", "line", "parameter"):
        rows = next(value for key, value in show(capture, "--by", by).items() if key in ("categories", "lines", "parameters"))
        wanted[by] = [[row["name"], row["allocated_bytes"], row["bytes_at_peak"]] for row in rows]
    return wanted


def main():
    arguments, (device, steps) = sys.argv[1:-3], sys.argv[-2:]
    tree, name, early = pathlib.Path(arguments[0]).resolve(), arguments[1], "--early" in arguments
    options = [argument for argument in arguments[2:] if argument != "--early"]
    from test_read_capture import TRAINING

    def show(capture, *options):
        return json.loads(subprocess.run([tree / "bin" / "memoir", "show", "--json", *options, capture], capture_output=True, text=True, check=True).stdout)

    capture = RELEASED / name
    if capture.exists():
        sys.exit(f"{capture}: is kept as it is")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "training.py").write_text(TRAINING)
        command = [tree / "bin" / "memoir", "run", "-q", "-o", "capture", *options, "--", sys.executable, "training.py", device, steps]
        subprocess.run(command, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "2"}, check=True)
        capture.mkdir(parents=True)
        for part in sorted(pathlib.Path(folder, "capture").glob("*.memoir")):
            (capture / part.name).write_bytes(part.read_bytes())
    if early:
        sys.path.append(os.environ["COMPILED_SCHEMA"])   # where protoc has written capture_pb2.py
        import capture_pb2

        for part in capture.glob("*.memoir"):
            write_early(capture_pb2, part)
    (RELEASED / f"{name}.json").write_text(json.dumps(totals(show, capture), indent=1) + "\n")


if __name__ == "__main__":
    main()
