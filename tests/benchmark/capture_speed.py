"""Size and speed of captures: capture_speed.py [--memoir PATH] [--adds 1000000] [--json]

Records a program of one-element adds and a training transformer with the installed Memoir, then summarises the captures.

  bytes per event    before and after zstd, from the chunks' own headers
  events per second  as recorded by the running program, and as read by `memoir show --json`
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

ADDS = """
import sys, time, torch
torch.set_num_threads(1)
a, b = torch.ones(1), torch.ones(1)
begin = time.perf_counter()
for _ in range(int(sys.argv[1])): torch.add(a, b)
print(time.perf_counter() - begin)
"""
TRANSFORMER = """
import sys, time, torch
torch.set_num_threads(1)
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
batch = torch.randn(4, 16, 64)
begin = time.perf_counter()
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(batch).pow(2).mean().backward()
    optimizer.step()
print(time.perf_counter() - begin)
"""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data, at, end):
    """(number, value or (begin, end)) of a protobuf message, as docs/capture_format.md describes chunks."""
    while at < end:
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == 1:
            at += 8
        else:
            length, at = varint(data, at)
            yield tag >> 3, (at, at + length)
            at += length


def sizes(capture):
    """Events, bytes before zstd, bytes on disk."""
    events = raw = disk = 0
    for part in capture.glob("*.memoir"):
        data = part.read_bytes()
        disk += len(data)
        for _, (begin, end) in fields(data, 0, len(data)):
            chunk = dict(fields(data, begin, end))
            raw += chunk.get(4, 0)
            events += chunk.get(8, 0)
    return events, raw, disk


def measure(memoir, folder, name, source, count):
    program, capture = folder / f"{name}.py", folder / name
    program.write_text(source)
    done = subprocess.run([memoir, "run", "-q", "-o", capture, "--", sys.executable, program, str(count)],
                          check=True, capture_output=True, text=True)
    seconds = float(done.stdout)
    events, raw, disk = sizes(capture)
    begin = time.perf_counter()
    report = json.loads(subprocess.run([memoir, "show", "--json", capture], check=True, capture_output=True, text=True).stdout)
    reading = time.perf_counter() - begin
    assert report["dropped_events"] == 0 and 0 < report["events"] <= events
    return {"events": events, "bytes_per_event": raw / events, "bytes_per_event_zstd": disk / events,
            "recorded_per_second": events / seconds, "read_per_second": events / reading}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=ROOT / "build" / "install" / "bin" / "memoir")
    parser.add_argument("--adds", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1, help="accepted for ./dev bench; each round is a new line")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for _ in range(options.rounds):
        for name, source, count in (("add", ADDS, options.adds), ("transformer", TRANSFORMER, options.steps)):
            with tempfile.TemporaryDirectory(prefix="memoir-benchmark-") as folder:
                rows.append({"program": name, **measure(options.memoir, pathlib.Path(folder), name, source, count)})
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if options.json:
        return print(json.dumps({"rows": rows, "largest_child_mib": peak}, indent=2))
    print(f"{'':12} {'events':>12} {'B/event':>8} {'zstd':>6} {'recorded/s':>12} {'read/s':>12}")
    for row in rows:
        print(f"{row['program']:12} {row['events']:12,} {row['bytes_per_event']:8.2f} {row['bytes_per_event_zstd']:6.2f} "
              f"{row['recorded_per_second']:12,.0f} {row['read_per_second']:12,.0f}")


if __name__ == "__main__":
    main()
