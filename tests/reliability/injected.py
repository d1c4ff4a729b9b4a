"""Calls of Memoir's that fail, by tests/faults: each kind of call, while a recording starts, runs and stops."""

import functools
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "faults"))
import test_failing_calls  # noqa: E402
from faults import fault  # noqa: E402
from lab import NotHere, Try, losses  # noqa: E402
from test_failing_calls import FAILURES, PHASES, Sweep  # noqa: E402


class Judged(Sweep):
    """Compares what the recording with failures has with one without."""

    def check(self, case, answer, folder):
        self.tried = Try()
        try:
            super().check(case, answer, folder)
        except AssertionError as wrong:
            self.tried.disturbed = str(wrong)[:300]
            return
        lines = answer["problems"] + answer["said"]
        of, _ = self.adds(folder / "second.memoir")
        had, words = self.adds(folder / "first.memoir")
        if had < of:
            had += self.adds_by_text(folder / "first.memoir")
        self.tried.of, self.tried.lost, self.tried.words = of, max(of - had, 0), "; ".join(lines + words)
        if lines or words:
            self.tried.verdict = "said"
        elif had != of:
            self.tried.verdict, self.tried.words = "wrong", f"{case}: {had} calls for {of}, and not a word"

    def adds_by_text(self, capture):
        """Without memory for an operator's schema it is recorded by its name alone: a range that is no operator."""
        events = subprocess.run([self.tree / "bin" / "memoir", "export", "events", capture], capture_output=True, text=True).stdout
        return sum('"event":"range_begin"' in line and '"name":"aten::add",' in line for line in events.splitlines())

    def adds(self, capture):
        if not capture.exists():
            return 0, []
        shown = subprocess.run([self.tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True)
        if shown.returncode != 0:
            return 0, []
        report = json.loads(shown.stdout)
        return sum(row["count"] for row in report["operators"] if row["name"] == "aten::add.Tensor"), losses(report)


@functools.cache
def sweep_of(lab):
    folder = lab.folder / "injected"
    folder.mkdir()
    return Judged(lab.tree, folder)


def fails(call, forever):
    def tries(lab, long):
        sweep = sweep_of(lab)
        tried = 0
        test_failing_calls.LONG = False  # one check in eight
        for phase in PHASES:
            at = 1
            while sweep.run(call, phase, at, forever, FAILURES[call]) is not None:
                yield sweep.tried
                tried += 1
                at += 1
                if not long:
                    break  # tests/faults has more
        if tried == 0:
            raise NotHere("Memoir made no such call")

    return tries


for call in FAILURES:
    if call == "ftruncate":
        continue  # only where fallocate is not to be had: the row of seccomp
    for forever, how in ((False, "once"), (True, "from then on")):
        fault(f"`{call}` fails {how}: while it starts, records, stops")(fails(call, forever))
