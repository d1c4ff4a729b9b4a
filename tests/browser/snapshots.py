"""Memory snapshots of PyTorch, written by hand: a history of the allocator and its final state, in the form of torch.cuda.memory._snapshot()."""

import pickle

MIB = 1 << 20
BASE = 0x7F0000000000
FAR = BASE + (1 << 34)  # of another segment
START_US = 1_700_000_000_000_000


def stack(name="f", line=1, file="train.py"):
    return [{"filename": file, "line": line, "name": name}]


def entry(action, address, size, after_us, frames=None):
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": START_US + after_us, "frames": frames or stack(), "segment_pool_id": (0, 0)}


def freed(address, size, after_us):
    return [entry("free_requested", address, size, after_us), entry("free_completed", address, size, after_us)]


def block(address, size, state="active_allocated", frames=None, requested=None):
    return {"address": address, "size": size, "requested_size": requested or size, "state": state, "frames": frames or stack()}


def segment(address, size, blocks, device=0, expandable=False):
    facts = {"allocated_size": 0, "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "frames": []}
    return {"device": device, "address": address, "total_size": size, "is_expandable": expandable, "blocks": blocks, **facts}


def write(path, segments, *traces, **settings):
    snapshot = {"segments": segments, "device_traces": list(traces) or [[]], "allocator_settings": settings, "external_annotations": []}
    path.write_bytes(pickle.dumps(snapshot, protocol=4))
    return path


def expandable(path):
    """Two stretches are mapped side by side, and a stretch is unmapped that has the end of the one and all of the other."""
    trace = [
        entry("segment_map", BASE, 60 * MIB, 0), entry("segment_map", BASE + 60 * MIB, 20 * MIB, 10), entry("alloc", BASE, 30 * MIB, 20), entry("alloc", BASE + 30 * MIB, 50 * MIB, 30),
        *freed(BASE + 30 * MIB, 50 * MIB, 40), entry("segment_unmap", BASE + 40 * MIB, 40 * MIB, 1000), entry("alloc", BASE + 30 * MIB, MIB, 2000),
    ]  # fmt: skip
    blocks = [block(BASE, 30 * MIB), block(BASE + 30 * MIB, MIB), block(BASE + 31 * MIB, 9 * MIB, "inactive")]
    return write(path, [segment(BASE, 40 * MIB, blocks, expandable=True)], trace, expandable_segments=True)


def reserved_early(path):
    """1,000 MiB are reserved and given back before the peak, at which 400 are reserved."""
    trace = [
        entry("segment_alloc", BASE, 1000 * MIB, 0), entry("alloc", BASE, 100 * MIB, 1), *freed(BASE, 100 * MIB, 100), entry("segment_free", BASE, 1000 * MIB, 200),
        entry("segment_alloc", FAR, 400 * MIB, 300), entry("alloc", FAR, 400 * MIB, 400),
    ]  # fmt: skip
    return write(path, [segment(FAR, 400 * MIB, [block(FAR, 400 * MIB)])], trace)


def nothing_live(path):
    return write(path, [segment(BASE, 300 * MIB, [block(BASE, 300 * MIB, "inactive")])])


def waiting(path):
    """The most is active after the peak of what is allocated: a free waits for another stream."""
    trace = [
        entry("segment_alloc", BASE, 300 * MIB, 0), entry("alloc", BASE, 100 * MIB, 10), entry("free_requested", BASE, 100 * MIB, 20),
        entry("alloc", BASE + 100 * MIB, 100 * MIB, 30), entry("free_completed", BASE, 100 * MIB, 40),
    ]  # fmt: skip
    return write(path, [segment(BASE, 300 * MIB, [block(BASE, 100 * MIB, "inactive"), block(BASE + 100 * MIB, 100 * MIB)])], trace)


def one_tick(path):
    """The peak begins and ends in one microsecond, in which smaller blocks begin."""
    small = [entry("alloc", BASE + i * MIB, MIB, 10) for i in range(3)]
    trace = [entry("segment_alloc", BASE, 100 * MIB, 0), entry("alloc", BASE, 10 * MIB, 10), *freed(BASE, 10 * MIB, 10), *small, entry("alloc", BASE + 3 * MIB, MIB, 5000)]
    return write(path, [segment(BASE, 100 * MIB, [block(BASE + i * MIB, MIB) for i in range(4)])], trace)


def without_history(path):
    blocks = [block(BASE + i * MIB, MIB, frames=stack(f"line_{i}", i + 1)) for i in range(5)]
    return write(path, [segment(BASE, 5 * MIB, blocks)])


def many_lines(path, count=5000):
    blocks = [block(BASE + i * 4096, 4096, frames=stack(f"tiny_{i}", i + 1)) for i in range(count)]
    trace = [entry("segment_alloc", BASE, count * 4096, 0), *(entry("alloc", one["address"], 4096, i, one["frames"]) for i, one in enumerate(blocks))]
    return write(path, [segment(BASE, count * 4096, blocks)], trace)


def three_lines(path):
    """Line a has the most before the peak, b and c are what is live at it."""
    trace = [
        entry("segment_alloc", BASE, 500 * MIB, 0), entry("alloc", BASE, 500 * MIB, 10, stack("a", 1, "a.py")), *freed(BASE, 500 * MIB, 1000), entry("segment_alloc", FAR, 600 * MIB, 1100),
        entry("alloc", FAR, 310 * MIB, 1200, stack("b", 1, "b.py")), entry("alloc", FAR + 310 * MIB, 290 * MIB, 1300, stack("c", 1, "c.py")),
    ]  # fmt: skip
    blocks = [block(FAR, 310 * MIB, frames=stack("b", 1, "b.py")), block(FAR + 310 * MIB, 290 * MIB, frames=stack("c", 1, "c.py"))]
    return write(path, [segment(FAR, 600 * MIB, blocks)], trace)


def many_segments(path, count=130_000):
    far = 4 * MIB
    return write(path, [segment(BASE + i * far, 2 * MIB, [block(BASE + i * far, 512)]) for i in range(count)])


def two_devices(path):
    """Ten blocks of 4 MiB and five of 2."""

    def of(device, count, size):
        blocks = [block(BASE + i * size, size, frames=stack(f"f{device}", 1, f"on_{device}.py")) for i in range(count)]
        trace = [entry("segment_alloc", BASE, count * size, 0), *(entry("alloc", one["address"], size, 10 + i, one["frames"]) for i, one in enumerate(blocks))]
        return segment(BASE, count * size, blocks, device=device), trace

    (first, first_trace), (second, second_trace) = of(0, 10, 4 * MIB), of(1, 5, 2 * MIB)
    return write(path, [first, second], first_trace, second_trace)
