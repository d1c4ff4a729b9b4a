"""Guarantees of torch's CUDA allocator, tested as PyTorch's own tests do: each function asserts, without knowing its device. python allocator_cases.py
[CASE...]        prints {case: null, or what went wrong} as JSON; on a GPU just so, on the simulated one with it preloaded

The same cases run with several allocators (PYTORCH_CUDA_ALLOC_CONF); cases for one allocator only are marked. stream_and_pool_cases.py holds the others.
"""

import gc
import json
import os
import pickle
import random
import re
import sys
import traceback

import torch

MIB = 1 << 20
EXPANDABLE = "expandable_segments:True" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
set_configuration = torch._C._accelerator_setAllocatorSettings if hasattr(torch._C, "_accelerator_setAllocatorSettings") else torch.cuda.memory._set_allocator_settings


class Cases(dict):
    """By name, in the order in which they stand."""

    def case(self, function):
        self[function.__name__] = function
        return function

    def segments_only(self, function):
        """Of segments that do not grow."""
        return function if EXPANDABLE else self.case(function)


CASES = Cases()
case, segments_only = CASES.case, CASES.segments_only


def stats(device=0):
    return torch.cuda.memory_stats(device)


def block(size, device="cuda:0"):
    return torch.empty(size, dtype=torch.uint8, device=device)


def raises(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert re.search(words, str(error)), f"{error} says nothing of {words}"
        return str(error)
    raise AssertionError(f"{kind.__name__} was expected")


def clean():
    """As a program begins, whatever the case before left."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    for device in range(torch.cuda.device_count()):
        torch.cuda.set_per_process_memory_fraction(1.0, device)
        torch.cuda.reset_peak_memory_stats(device)


def check_books():
    """The statistics close over themselves and over the snapshot."""
    for device in range(torch.cuda.device_count()):
        found, segments = stats(device), [s for s in torch.cuda.memory_snapshot() if s["device"] == device]
        for total, key in (("reserved", "total_size"), ("allocated", "allocated_size"), ("active", "active_size")):
            assert found[f"{total}_bytes.all.current"] == sum(s[key] for s in segments), total
        for what in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes", "allocation", "segment", "active", "inactive_split"):
            row = {kind: found[f"{what}.all.{kind}"] for kind in ("current", "peak", "allocated", "freed")}
            assert row["allocated"] - row["freed"] == row["current"] <= row["peak"], what
            assert row["current"] == sum(found[f"{what}.{pool}.current"] for pool in ("small_pool", "large_pool")), what
        for segment in segments:
            assert sum(b["size"] for b in segment["blocks"]) == segment["total_size"]
            assert sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated") == segment["allocated_size"]


@case
def allocated_and_peak_follow_what_lives():
    """As PyTorch's test of memory_allocated: tensors come and go, and five numbers follow."""
    rng, live, expected, peak = random.Random(0), [], 0, 0
    base = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(200):
        if live and rng.random() < 0.45:
            expected -= -(-live.pop(rng.randrange(len(live))).numel() // 512) * 512
        else:
            live.append(block(rng.choice([1, 100, 511, 512, 513, 5000, 900_000])))
            expected += -(-live[-1].numel() // 512) * 512
        peak = max(peak, expected)
        assert torch.cuda.memory_allocated() - base == expected
        assert torch.cuda.max_memory_allocated() - base == peak
        assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
        assert torch.cuda.max_memory_reserved() >= torch.cuda.memory_reserved()
    live.clear()
    assert torch.cuda.memory_allocated() == base


@case
def statistics_have_every_key_and_a_tree():
    found, tree = stats(), torch.cuda.memory_stats_as_nested_dict()
    for what in ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes"):
        for pool in ("all", "small_pool", "large_pool"):
            for kind in ("current", "peak", "allocated", "freed"):
                assert tree[what][pool][kind] == found[f"{what}.{pool}.{kind}"]
    for key in ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free", "max_split_size"):
        assert key in found
    assert "Allocated memory" in torch.cuda.memory_summary() and "small pool" in torch.cuda.memory_summary(abbreviated=False)
    assert list(found) == sorted(found)


@case
def peaks_and_accumulated_figures_are_reset():
    x = block(30 * MIB)
    del x
    assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated() + 30 * MIB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated()
    assert torch.cuda.max_memory_reserved() == torch.cuda.memory_reserved()
    torch.cuda.reset_accumulated_memory_stats()
    assert stats()["allocated_bytes.all.allocated"] == stats()["allocated_bytes.all.freed"] == 0
    y = block(MIB)
    assert stats()["allocated_bytes.all.allocated"] == MIB and stats()["allocation.all.allocated"] == 1
    del y
    assert stats()["allocation.all.freed"] == 1
    clean()
    torch.cuda.reset_accumulated_memory_stats()


@case
def blocks_are_rounded_to_512_bytes_and_requests_are_kept():
    for size, rounded in ((1, 512), (512, 512), (513, 1024), (MIB, MIB), (MIB + 1, MIB + 512)):
        before = stats()
        x = block(size)
        after = stats()
        assert after["allocated_bytes.all.current"] - before["allocated_bytes.all.current"] == rounded
        assert after["requested_bytes.all.current"] - before["requested_bytes.all.current"] == size
        assert x.untyped_storage().nbytes() == size
        del x


@segments_only
def segments_have_the_documented_sizes():
    """2 MiB for small blocks, 20 MiB for medium ones, multiples of 2 MiB beyond."""
    for size, segment in ((1, 2 * MIB), (MIB, 2 * MIB), (MIB + 1, 20 * MIB), (9 * MIB, 20 * MIB), (10 * MIB, 10 * MIB), (11 * MIB, 12 * MIB), (33 * MIB, 34 * MIB)):
        clean()
        before, count = torch.cuda.memory_reserved(), stats()["segment.all.current"]
        x = block(size)
        assert torch.cuda.memory_reserved() - before in (0, segment) and stats()["segment.all.current"] - count in (0, 1), size
        if size > MIB:
            assert torch.cuda.memory_reserved() - before == segment, size
        del x


@segments_only
def a_freed_block_is_split_and_merged_again():
    clean()
    whole = block(40 * MIB)
    address, reserved = whole.data_ptr(), torch.cuda.memory_reserved()
    del whole
    parts = [block(10 * MIB) for _ in range(4)]
    assert [p.data_ptr() for p in parts] == [address + i * 10 * MIB for i in range(4)]
    assert torch.cuda.memory_reserved() == reserved
    inactive = stats()["inactive_split_bytes.all.current"]
    del parts[1], parts[1]
    assert stats()["inactive_split_bytes.all.current"] - inactive == 20 * MIB
    middle = block(20 * MIB)
    assert middle.data_ptr() == address + 10 * MIB
    parts.clear()
    del middle
    again = block(40 * MIB)
    assert again.data_ptr() == address


@case
def the_cache_is_given_back():
    clean()
    free, reserved = torch.cuda.mem_get_info()[0], torch.cuda.memory_reserved()
    x = block(64 * MIB)
    assert free - torch.cuda.mem_get_info()[0] >= 64 * MIB
    del x
    assert torch.cuda.memory_reserved() >= reserved + 64 * MIB and torch.cuda.mem_get_info()[0] <= free - 64 * MIB
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == reserved
    assert torch.cuda.mem_get_info()[0] == free


@case
def a_segment_in_use_is_kept():
    clean()
    x = block(30 * MIB)
    reserved = torch.cuda.memory_reserved()
    y = block(50 * MIB)
    del y
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() <= reserved + 20 * MIB
    assert any(s["address"] <= x.data_ptr() < s["address"] + s["total_size"] for s in torch.cuda.memory_snapshot())


@case
def memory_without_a_tensor():
    base = torch.cuda.memory_allocated()
    address = torch.cuda.caching_allocator_alloc(1000)
    assert torch.cuda.memory_allocated() == base + 1024
    torch.cuda.caching_allocator_delete(address)
    assert torch.cuda.memory_allocated() == base
    side = torch.cuda.Stream()
    address = torch.cuda.caching_allocator_alloc(3 * MIB, stream=side)
    owner = next(s for s in torch.cuda.memory_snapshot() if s["address"] <= address < s["address"] + s["total_size"])
    assert owner["stream"] == side.cuda_stream
    torch.cuda.caching_allocator_delete(address)
    raises(TypeError, "stream argument", torch.cuda.caching_allocator_alloc, 10, device=0, stream="no stream")


@case
def the_fraction_of_memory_is_a_limit():
    for wrong in (-0.1, 2.0):
        raises(ValueError, "Invalid fraction value", torch.cuda.set_per_process_memory_fraction, wrong)
    raises(TypeError, "Invalid type for fraction", torch.cuda.set_per_process_memory_fraction, 1)
    total = torch.cuda.mem_get_info()[1]
    limit = torch.cuda.memory_reserved() + 512 * MIB
    torch.cuda.set_per_process_memory_fraction(limit / total)
    x = block(400 * MIB)
    del x
    torch.cuda.empty_cache()
    ooms = stats()["num_ooms"]
    raises(torch.cuda.OutOfMemoryError, "out of memory", block, 600 * MIB)
    assert stats()["num_ooms"] == ooms + 1
    torch.cuda.set_per_process_memory_fraction(1.0)
    assert block(600 * MIB).numel() == 600 * MIB


@case
def too_much_is_refused_and_the_allocator_goes_on():
    ooms, base = stats()["num_ooms"], torch.cuda.memory_allocated()
    message = raises(torch.cuda.OutOfMemoryError, r"Tried to allocate 800000000\.00 GiB", block, 800_000_000 << 30)
    assert "GPU 0 has a total capacity of" in message and issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    assert stats()["num_ooms"] == ooms + 1 and torch.cuda.memory_allocated() == base
    x = torch.ones(10, device="cuda")
    assert (x + x).tolist() == [2.0] * 10


@segments_only
def cached_memory_is_freed_before_an_error():
    clean()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 300 * MIB) / total)
    x = block(200 * MIB)
    del x
    before = stats()
    y = block(250 * MIB)
    after = stats()
    assert after["num_alloc_retries"] == before["num_alloc_retries"] + 1 and after["num_ooms"] == before["num_ooms"]
    assert after["segment.all.freed"] > before["segment.all.freed"]
    del y


@case
def an_observer_sees_the_error_first():
    seen = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *arguments: seen.append(arguments))
    raises(torch.cuda.OutOfMemoryError, "out of memory", block, 1 << 50)
    device, asked, total, free = seen[-1]
    assert (device, asked) == (0, 1 << 50) and 0 <= free <= total


@segments_only
def what_is_old_is_collected():
    clean()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 400 * MIB) / total)
    set_configuration("garbage_collection_threshold:0.5")
    try:
        old = block(250 * MIB)
        del old
        retries = stats()["num_alloc_retries"]
        for _ in range(4):
            new = block(120 * MIB)
        assert stats()["num_alloc_retries"] == retries, "collected before memory ran out"
        assert torch.cuda.memory_reserved() < 300 * MIB and new.numel()
    finally:
        set_configuration("")


@segments_only
def large_blocks_are_not_split_above_the_limit():
    clean()
    set_configuration("max_split_size_mb:40")
    try:
        large = block(80 * MIB)
        address = large.data_ptr()
        del large
        small = block(30 * MIB)
        assert not address <= small.data_ptr() < address + 80 * MIB
        again = block(70 * MIB)
        assert again.data_ptr() == address, "one that is nearly as large is taken whole"
    finally:
        small = again = None
        torch.cuda.empty_cache()
        set_configuration("")


def rounded_to_a_part_of_a_power(size, parts):
    step = (1 << (size.bit_length() - 1)) // parts if parts > 1 else 512
    return -(-size // step) * step


@segments_only
def sizes_are_rounded_to_parts_of_a_power_of_two():
    clean()
    cases = [("roundup_power2_divisions:4", 84 * MIB, 4), ("roundup_power2_divisions:[64:8,128:2,256:4,>:1]", 84 * MIB, 8),
             ("roundup_power2_divisions:[64:8,128:2,256:4,>:1]", 400 * MIB, 4), ("roundup_power2_divisions:[64:8,128:2,256:4,>:1]", 700 * MIB, 1)]
    for configuration, size, parts in cases:
        set_configuration(configuration)
        before = stats()
        x = block(size + 100)
        grown = stats()["allocated_bytes.all.current"] - before["allocated_bytes.all.current"]
        assert grown == rounded_to_a_part_of_a_power(size + 100, parts), (configuration, size, grown)
        assert stats()["requested_bytes.all.current"] - before["requested_bytes.all.current"] == size + 100
        del x
        torch.cuda.empty_cache()
    set_configuration("")


@case
def settings_that_make_no_sense_are_refused():
    for wrong in ("foo:1,bar:2", "garbage_collection_threshold:1.2", "max_split_size_mb:2", "roundup_power2_divisions:12", "roundup_power2_divisions:[100:2,>:1]"):
        raises((RuntimeError, ValueError), "", set_configuration, wrong)
    set_configuration("expandable_segments:True" if EXPANDABLE else "")


@case
def a_snapshot_can_be_stored():
    x = block(3 * MIB)
    snapshot = torch.cuda.memory._snapshot()
    assert {"segments", "device_traces", "allocator_settings"} <= set(snapshot)
    back = pickle.loads(pickle.dumps(snapshot))
    owner = next(s for s in back["segments"] if s["address"] <= x.data_ptr() < s["address"] + s["total_size"])
    state = {b["address"]: b for b in owner["blocks"]}[x.data_ptr()]
    assert state["state"] == "active_allocated" and state["requested_size"] == 3 * MIB
    assert owner["segment_type"] == "large" and owner["is_expandable"] == EXPANDABLE


@case
def the_other_device_has_figures_of_its_own():
    if torch.cuda.device_count() < 2:
        return
    before = [torch.cuda.memory_allocated(d) for d in range(2)]
    x = block(7 * MIB, "cuda:1")
    assert [torch.cuda.memory_allocated(d) for d in range(2)] == [before[0], before[1] + 7 * MIB]
    y = x.to("cuda:0")
    assert torch.cuda.memory_allocated(0) == before[0] + 7 * MIB and y.device.index == 0
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1 and torch.cuda.memory_allocated() == before[1] + 7 * MIB


@case
def workspaces_of_multiplications_are_given_back():
    clean()
    torch._C._cuda_clearCublasWorkspaces()
    base = torch.cuda.memory_allocated()
    a = torch.ones(64, 64, device="cuda")
    b = a @ a
    del a, b
    assert torch.cuda.memory_allocated() > base, "cuBLAS keeps one"
    torch._C._cuda_clearCublasWorkspaces()
    assert torch.cuda.memory_allocated() == base


def main(cases, names):
    results = {}
    torch.zeros(1, device="cuda")
    for name in names or cases:
        clean()
        try:
            cases[name]()
            check_books()
            results[name] = None
        except Exception:
            results[name] = traceback.format_exc()
            set_configuration("expandable_segments:True" if EXPANDABLE else "")
    print(json.dumps(results))


if __name__ == "__main__":
    main(CASES, sys.argv[1:])
