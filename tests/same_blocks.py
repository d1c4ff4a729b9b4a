"""Compares two captures of one program block by block: the facts of each block, and of the corresponding block in the other. Lifetimes count events, not time,
so figures are the same in every run. All lifetimes and steps are the first capture's.
"""

import bisect
import collections
import contextlib
import dataclasses
import pathlib
import sqlite3
import subprocess
import tempfile

FACTS = ("operator", "category", "detail", "module", "phase", "parameter", "file", "line")
BLOCKS = f"""SELECT b.process, b.device, b.address, b.serial, b.bytes, b.requested_bytes, b.stream, b.thread, b.freed_ns, b.operator, b.category, b.detail,
    m.root || ' ' || m.path, b.phase, b.parameter, b.file, b.line FROM blocks b LEFT JOIN modules m USING (module)"""


@dataclasses.dataclass
class Block:
    device: str
    thread: int  # of those that allocate on the device, in the order of their first blocks
    size: tuple  # bytes, bytes asked for, the number of its stream
    facts: dict
    born: int = 0
    died: int | None = None


@dataclasses.dataclass
class Blocks:
    """The blocks of one process."""

    of: dict  # by device, in the order in which they were allocated
    steps: list  # the numbers of the events with which steps begin; what is before the first is step 0
    end: int


def read(tree, capture):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "run.db")
        done = subprocess.run([tree / "bin" / "memoir", "export", "sqlite", capture, "-o", path], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        with contextlib.closing(sqlite3.connect(path)) as database:
            rows = database.execute(BLOCKS).fetchall()
            events = database.execute("SELECT ns, process, action, device, address, serial FROM events ORDER BY rowid").fetchall()
            begins = [ns for (ns,) in database.execute("SELECT begin_ns FROM steps ORDER BY begin_ns")]
    (process,) = {row[0] for row in rows}
    born, died, steps = {}, {}, []
    for number, (ns, where, action, *place) in enumerate(events):
        while begins and begins[0] <= ns:
            begins.pop(0)
            steps.append(number)
        if where == process and action in ("allocate", "free"):
            lives = born if action == "allocate" else died
            assert lives.setdefault(tuple(place), number) == number, place
    steps += [len(events)] * len(begins)
    found = collections.defaultdict(list)
    streams, threads = collections.defaultdict(dict), collections.defaultdict(dict)
    for _, device, address, serial, size, asked, stream, thread, freed_ns, *facts in sorted(rows, key=lambda row: born[row[1:4]]):
        place, known = (device, address, serial), streams[device]
        if freed_ns is not None and place not in died:   # while recording was off
            died[place] = bisect.bisect_left(events, (freed_ns,))
        size = (size, asked, known.setdefault(stream, len(known)))
        thread = threads[device].setdefault(thread, len(threads[device]))   # a capture counts those that allocate nothing, too
        found[device].append(Block(device, thread, size, dict(zip(FACTS, facts, strict=True)), born[place], died.get(place, len(events) + 1)))
    return Blocks(dict(found), steps, len(events))


def at_peaks(blocks, steps, end):
    """For each step, the blocks live at its peak."""
    changes = [(block.born, block.size[0]) for block in blocks] + [(block.died, -block.size[0]) for block in blocks]
    live, peaks, begins = 0, [(0, 0)], collections.deque(steps)
    for at, change in [*sorted(changes), (end, 0)]:
        while begins and begins[0] <= at:
            peaks.append((live, begins.popleft()))
        live += change
        peaks[-1] = max(peaks[-1], (live, at), key=lambda peak: peak[0])
    return [[block for block in blocks if block.born <= at < block.died] for _, at in peaks]


def share(pairs, facts, weight):
    """The share of the total weight in blocks whose facts are equal in both captures."""
    pairs = list(pairs)
    same = sum(weight(ours) for ours, others in pairs if all(ours.facts[fact] == others.facts[fact] for fact in facts))
    whole = sum(weight(ours) for ours, _ in pairs)
    return same / whole if whole else 1.0


@dataclasses.dataclass
class Agreement:
    by_time: dict  # for each fact the share of byte-time in which both captures agree, and for operator and category together
    at_peaks: dict  # the same at each step's peak; the least of several devices
    different: list  # (step, size, {fact: (ours, the other's)})

    def missed(self, name):
        """The steps at whose peaks not all bytes are alike."""
        return tuple(step for step, of_peak in enumerate(self.at_peaks[name]) if of_peak < 1)

    def __str__(self):
        lines = []
        for name, of_time in self.by_time.items():
            if steps := self.missed(name):
                lines.append(f"  {name}: {of_time:.4%} of byte-time; {min(self.at_peaks[name]):.4%} at the worst peak, of steps {steps}")
            elif of_time < 1:
                lines.append(f"  {name}: {of_time:.4%} of byte-time, all at peaks")
        lines += [f"  {count} x {what}" for what, count in collections.Counter(map(str, self.different)).most_common(40)]
        return "\n".join(lines or ["  all alike"])


def compare(ours, others, wanted=lambda block: True):
    """`others` has as many blocks of the same sizes in the same order, which is asserted of each device and of those that are `wanted`."""
    pairs, peaks = [], [[] for _ in [0, *ours.steps]]
    for device, blocks in ours.of.items():
        mine = [block for block in blocks if wanted(block)]
        other = [block for block in others.of.get(device, []) if wanted(block)]
        assert [block.size for block in mine] == [block.size for block in other], device
        pairs += zip(mine, other, strict=True)
        partner = {id(block): another for block, another in zip(mine, other, strict=True)}
        for peak, live in zip(peaks, at_peaks(mine, ours.steps, ours.end), strict=True):
            peak.append([(block, partner[id(block)]) for block in live])
    names = {"operator and category": ("operator", "category"), **{fact: (fact,) for fact in FACTS}}
    different = []
    for mine, other in pairs:
        unlike = {fact: (mine.facts[fact], other.facts[fact]) for fact in FACTS if mine.facts[fact] != other.facts[fact]}
        if unlike:
            different.append((sum(begin <= mine.born for begin in ours.steps), mine.size, unlike))
    return Agreement(
        {name: share(pairs, facts, lambda block: block.size[0] * (block.died - block.born)) for name, facts in names.items()},
        {name: [min(share(live, facts, lambda block: block.size[0]) for live in peak) for peak in peaks] for name, facts in names.items()},
        different,
    )
