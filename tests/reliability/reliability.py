"""./dev reliability [--long] [--only TEXT] [--tree FOLDER]: tries the faults of this folder; with --long it writes the table of docs/tested/reliability.md.

A row is what was seen in one run: none of its figures is written by hand. Rows of faults that were not tried this time stay as they were.
"""

import argparse
import collections
import datetime
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from faults import FAULTS  # noqa: E402
from lab import NOT_JUDGED, Lab, NotHere  # noqa: E402

PAGE = ROOT / "docs" / "tested" / "reliability.md"
COLUMNS = ("fault", "tries", "program as without", "capture whole", "less, and reported", "wrong or unreported", "most lost", "seen")


class Row:
    def __init__(self, fault, tries):
        self.name, self.tries = fault.name, tries
        self.disturbed = [one for one in tries if one.disturbed]
        self.verdicts = collections.Counter(one.verdict for one in tries if not one.disturbed)
        self.worst = max(tries, key=lambda one: one.lost / max(one.of, 1), default=None)

    def cells(self):
        import torch

        lost = "nothing" if self.worst.lost == 0 else f"{self.worst.lost:,} of {self.worst.of:,} calls"
        seen = f"{datetime.date.today()}, torch {torch.__version__.split('+')[0]}, {os.cpu_count()} cores"
        verdicts = [f"{self.verdicts[name]:,}" for name in ("whole", "said", "wrong")] + [lost]
        if self.verdicts[NOT_JUDGED]:
            verdicts = ["–"] * 4
        return [self.name, f"{len(self.tries):,}", f"{len(self.tries) - len(self.disturbed):,}", *verdicts, seen]

    def problems(self):
        return [one.disturbed for one in self.disturbed] + [one.words for one in self.tries if one.verdict == "wrong" and not one.disturbed]


def try_fault(lab, fault, long):
    """Its row; or the reason why it was not tried."""
    try:
        tries = list(fault.function(lab, long))
    except NotHere as reason:
        return str(reason)
    assert tries, fault.name
    return Row(fault, tries)


def known_rows(text):
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {row[0]: row for row in rows if len(row) == len(COLUMNS) and row[0] in FAULTS}


def write(rows):
    text = PAGE.read_text()
    rows = {**known_rows(text), **rows}
    table = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    table += ["| " + " | ".join(rows[name]) + " |" for name in FAULTS if name in rows]
    begin, end = "<!-- table -->\n", "<!-- end of the table -->"
    PAGE.write_text(re.sub(f"{begin}.*{end}", lambda _: begin + "\n" + "\n".join(table) + "\n\n" + end, text, flags=re.DOTALL))


def main():
    parser = argparse.ArgumentParser(prog="./dev reliability", description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="each fault as often as the page says, which takes two hours, and write the page; without, a minute or two, and no page")
    parser.add_argument("--only", default="", metavar="TEXT", help="faults with TEXT in their names")
    parser.add_argument("--tree", default=os.environ.get("TESTED_TREE") or ROOT / "build" / "dev" / "installed", help="an installed Memoir (default: of ./dev test)")
    parser.add_argument("--rows-of", metavar="PAGE", help="try nothing: take the rows of this page into docs/tested/reliability.md")
    parser.add_argument("--no-page", action="store_true", help="with --long: leave docs/tested/reliability.md as it is")
    arguments = parser.parse_args()
    if arguments.rows_of:
        return write(known_rows(pathlib.Path(arguments.rows_of).read_text()))
    lab, failed = Lab(arguments.tree), False
    try:
        for fault in FAULTS.values():
            if arguments.only not in fault.name or (fault.only_long and not arguments.long):
                continue
            started = time.monotonic()
            row = try_fault(lab, fault, arguments.long)
            if isinstance(row, str):
                print(f"not tried: {fault.name}: {row}", flush=True)
                continue
            print(f"{time.monotonic() - started:6.1f} s  " + " | ".join(row.cells()), flush=True)
            for problem, times in collections.Counter(row.problems()).most_common(8):
                print(f"          {times}x {problem}", flush=True)
            failed = failed or bool(row.problems())
            if arguments.long and not arguments.no_page:
                write({fault.name: row.cells()})
    finally:
        lab.close()
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
