"""Buffers of changing sizes, on two streams, with transfers from the host: differences other than in allocated bytes."""

import os
import sys

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
FIXED = "fixed" in sys.argv[2:]
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = f"expandable_segments:{SEEDED != 'not_expandable' and not FIXED}"

import torch  # noqa: E402

MIB = 1 << 20


def work(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")  # SEEDED: not_expandable, not_warmed


def prefetch(stream, size):
    host = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    with torch.cuda.stream(stream):
        batch = host.to("cuda", non_blocking=True)  # SEEDED: second_stream
        batch = batch + 1  # SEEDED: second_stream
    torch.cuda.current_stream().wait_stream(stream)
    return batch


def main():
    stream = torch.cuda.Stream() if SEEDED == "second_stream" else torch.cuda.current_stream()
    kept = []
    if FIXED and SEEDED != "not_warmed":
        work(80 * MIB)
    for step in range(6):
        batch = prefetch(stream, 16 * MIB)
        del batch
        large = work((30 + 10 * step) * MIB)
        if SEEDED == "slices":
            kept.append(large[: 2 * MIB].clone())  # SEEDED: slices
        if SEEDED == "second_device" and step == 3:
            kept.append(torch.ones(6 * MIB, device="cuda:1"))  # SEEDED: second_device
        if SEEDED == "pinned":
            kept.append(torch.empty(8 * MIB, dtype=torch.uint8, pin_memory=True))  # SEEDED: pinned
        if SEEDED == "host":
            kept.append(torch.ones(2 * MIB))  # SEEDED: host
        del large
    if SEEDED == "graph":
        static = work(4 * MIB)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept.append(torch.cat([static] * 48))  # SEEDED: graph
        graph.replay()


main()
