"""Time and memory of `memoir show` and `memoir report` on a memory snapshot as torch writes it: snapshot_speed.py [--megabytes 1000] [--frames 24]

The snapshot is made here, and is large for the same reason as a real one: each allocation has its own list of frames, and the frames are shared through the
pickle's memo. It shows a training with as many steps as fill the file: 40 layers, each with two blocks that forward keeps and backward frees.
"""

import argparse
import json
import pathlib
import pickle
import random
import shutil
import subprocess
import tempfile

from category_speed import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20
LAYERS = 40


class Training:
    """A caching allocator with one segment for each size, and its trace."""

    def __init__(self, frames):
        self.random = random.Random(1)
        self.frames = [{"name": f"function{i % 40}", "filename": f"/src/train/file{i % 30}.py", "line": i} for i in range(3000)]
        self.depth = frames
        self.trace, self.free, self.live, self.segments, self.us = [], {}, {}, [], 1_700_000_000_000_000

    def stack(self, kind):
        inner = [self.frames[(kind * 7 + i * 31) % len(self.frames)] for i in range(self.depth - 2)]
        return [*inner, self.frames[0], self.frames[1]]

    def note(self, action, address, size, frames):
        self.us += self.random.randrange(1, 30)
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.us, "compile_context": "N/A",
                           "user_metadata": "", "pool_id": (0, 0), "frames": frames})  # fmt: skip

    def allocate(self, size, kind):
        frames = self.stack(kind)
        if not self.free.get(size):
            address = 0x7F0000000000 + len(self.segments) * 64 * MIB
            self.segments.append((address, size))
            self.note("segment_alloc", address, size, frames)
            self.free.setdefault(size, []).append(address)
        address = self.free[size].pop()
        self.note("alloc", address, size, frames)
        self.live[address] = (size, frames)
        return address

    def release(self, address, kind):
        size, _ = self.live.pop(address)
        frames = self.stack(kind)
        self.note("free_requested", address, size, frames)
        self.note("free_completed", address, size, frames)
        self.free[size].append(address)

    def step(self):
        kept = []
        for layer in range(LAYERS):
            for part in (2, 4):
                kept.append((layer, self.allocate(part * MIB * (1 + layer % 5), layer * 10 + part)))
                self.release(self.allocate(2 * MIB, layer * 10 + 9), layer * 10 + 9)
        for layer, address in reversed(kept):
            gradient = self.allocate(4 * MIB, 1000 + layer * 10)
            self.release(address, 1000 + layer * 10 + 1)
            self.release(gradient, 1000 + layer * 10 + 2)

    def snapshot(self):
        segments = []
        for address, size in self.segments:
            live, frames = self.live.get(address, (0, []))
            state = "active_allocated" if live else "inactive"
            block = {"address": address, "size": size, "requested_size": size, "state": state, "frames": frames}
            segments.append({"device": 0, "address": address, "total_size": size, "allocated_size": live, "active_size": live, "requested_size": live, "stream": 0,
                             "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames, "blocks": [block]})  # fmt: skip
        return {"segments": segments, "device_traces": [self.trace], "external_annotations": [], "allocator_settings": {"max_split_size": -1}}


def write(path, megabytes, frames):
    """Returns how many entries the snapshot has."""
    training = Training(frames)
    for i in range(50):  # parameters
        training.allocate(8 * MIB, 2000 + i)
    while len(training.trace) < 20_000:
        training.step()
    size = len(pickle.dumps(training.snapshot())) / len(training.trace)
    while len(training.trace) * size < megabytes * 1e6:
        training.step()
    with open(path, "wb") as file:
        pickle.dump(training.snapshot(), file)
    return len(training.trace)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--snapshot", help="a file that is there already, instead")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        path = arguments.snapshot or folder / "snapshot.pickle"
        if not arguments.snapshot:
            entries = write(path, arguments.megabytes, arguments.frames)
            print(f"{entries:,} entries, {pathlib.Path(path).stat().st_size / 1e6:,.0f} MB")
        print(f"{'':30}{'seconds':>9}{'MiB':>8}{'file MiB':>10}")
        for name, *verb in (("show", "show"), ("show --by stack", "show", "--by", "stack"), ("report", "report", "-o", folder / "report.html")):
            _, seconds, mebibytes = measured(arguments.memoir, *verb, path)
            size = f"{(folder / 'report.html').stat().st_size / MIB:10.2f}" if name == "report" else ""
            print(f"{name:30}{seconds:9.2f}{mebibytes:8.0f}{size}", flush=True)
        shown = subprocess.run([arguments.memoir, "show", "--json", "--top", "1", path], check=True, capture_output=True).stdout
        print(f"{json.loads(shown)['events']:,} events")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
