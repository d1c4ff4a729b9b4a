"""How long `memoir show` and `memoir report` take of a trace of torch.profiler, and how large they get: trace_speed.py [--events 1000000] [--gzip]

The trace is made here, as Kineto writes it: a training of as many steps as have that many memory events, with operators, functions of Python and modules around them,
and two kernels and three flow events, which Memoir passes over, for each operator.
"""

import argparse
import gzip
import pathlib
import resource
import shutil
import tempfile

from category_speed import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20
LAYERS = 40
HEAD = """
  {
    "schemaVersion": 1,
    "deviceProperties": [
      {
        "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85520809984
      }
    ],
    "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""
SPAN = """  {
    "ph": "X", "cat": "%s", "name": "%s", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": %.3f,
    "args": {
      %s"Ev Idx": %d
    }
  },
"""
DIMENSIONS = '"Concrete Inputs": ["", "", ""], "Input type": ["float", "float", "float"], "Input Strides": [[1000, 1], [1, 1000], [1]], "Input Dims": [[64, 1000], [1000, 1000], [1000]], '
MEMORY = """  {
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
    "pid": 4711, "tid": 4711,
    "ts": %.3f,
    "args": {
      "Total Reserved": %d, "Total Allocated": %d, "Bytes": %d, "Device Id": 0, "Device Type": 1, "Addr": %d, "finished": false, "Ev Idx": %d
    }
  },
"""
KERNEL = """  {
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, float)", "pid": 0, "tid": 7,
    "ts": %.3f, "dur": 1.500,
    "args": {
      "External id": %d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %d, "grid": [128, 1, 1], "block": [512, 1, 1]
    }
  },
"""
FLOW = """  {
    "ph": "s", "id": %d, "pid": 4711, "tid": 4711, "ts": %.3f, "cat": "ac2g", "name": "ac2g"
  },
"""


class Trace:
    def __init__(self, write):
        self.write = write
        self.us, self.number, self.memory, self.allocated, self.reserved = 4765205887701.0, 0, [], 8 << 30, 9 << 30
        self.count, self.free, self.next, self.sequence = 0, {}, 0x7F0000000000, 0

    def span(self, category, name, begin, facts=""):
        self.number += 1
        self.write(SPAN % (category, name, begin, self.us - begin, facts, self.number))

    def move(self, address, size):
        self.us += 1.234
        self.allocated += size
        self.reserved = max(self.reserved, self.allocated)
        self.number += 1
        self.count += 1
        self.memory.append(MEMORY % (self.us, self.reserved, self.allocated, size, address, self.number))

    def allocate(self, size, name, layer):
        """In an operator, inside a module, inside functions of Python."""
        begin = self.us
        self.us += 2
        addresses = self.free.setdefault(size, [])
        if not addresses:
            addresses.append(self.next)
            self.next += size
        address = addresses.pop()
        self.move(address, size)
        self.us += 2
        self.sequence += 1
        self.span("cpu_op", name, begin + 1.5, f'"External id": {self.number}, "Sequence number": {self.sequence}, "Fwd thread id": 0, {DIMENSIONS}')
        self.span("python_function", f"torch/nn/modules/linear.py({layer}): forward", begin + 1)
        self.span("python_function", f"nn.Module: Linear_{layer}", begin + 0.5)
        self.span("python_function", f"train.py({layer}): forward", begin)
        for i in range(2):
            self.write(KERNEL % (self.us + i, self.number, self.number))
        for _ in range(3):
            self.write(FLOW % (self.number, self.us))
        return address

    def release(self, address, size):
        self.move(address, -size)
        self.free[size].append(address)

    def step(self, number):
        begin, kept = self.us, []
        for layer in range(LAYERS):
            for part in (2, 4):
                size = part * MIB * (1 + layer % 5)
                kept.append((self.allocate(size, "aten::addmm", layer), size))
                self.release(self.allocate(2 * MIB, "aten::relu", layer), 2 * MIB)
        for address, size in reversed(kept):
            gradient = self.allocate(4 * MIB, "aten::mm", 0)
            self.release(address, size)
            self.release(gradient, 4 * MIB)
        self.span("user_annotation", f"ProfilerStep#{number}", begin)


def write(path, events):
    """Memory events stand behind the others, as in Kineto's file. Returns how many events of all kinds there are."""
    with (gzip.open(path, "wt", 1) if str(path).endswith(".gz") else open(path, "w")) as file:
        file.write(HEAD)
        trace = Trace(file.write)
        step = 0
        while trace.count < events:
            trace.step(step)
            step += 1
        for event in trace.memory:
            file.write(event)
        file.write('  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": %.3f}\n  ],\n  "traceName": "trace.json"\n}\n' % trace.us)
    return trace.number + 5 * trace.sequence


def cpu_seconds():
    """Processor seconds of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--events", type=int, default=1_000_000, help="memory events")
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--trace", help="a file that is there already, instead")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        path = arguments.trace or folder / ("trace.json.gz" if arguments.gzip else "trace.json")
        if not arguments.trace:
            events = write(path, arguments.events)
            print(f"{arguments.events:,} memory events of {events:,} events, {pathlib.Path(path).stat().st_size / 1e6:,.0f} MB")
        print(f"{'':30}{'seconds':>9}{'of CPU':>9}{'MiB':>8}{'file MiB':>10}")
        for name, *verb in (("show", "show"), ("show --by line", "show", "--by", "line"), ("report", "report", "-o", folder / "report.html")):
            before = cpu_seconds()
            _, seconds, mebibytes = measured(arguments.memoir, *verb, path)
            spent = cpu_seconds() - before
            size = f"{(folder / 'report.html').stat().st_size / MIB:10.2f}" if name == "report" else ""
            print(f"{name:30}{seconds:9.2f}{spent:9.2f}{mebibytes:8.0f}{size}", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
