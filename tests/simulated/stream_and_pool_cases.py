"""Guarantees of torch's CUDA allocator for streams, graphs, pools, pinned memory and its history; see allocator_cases.py."""

import gc
import os
import sys
import tempfile
import threading

import torch
from allocator_cases import EXPANDABLE, MIB, Cases, block, clean, main, raises, stats

CASES = Cases()
case, segments_only = CASES.case, CASES.segments_only


def busy(milliseconds=50):
    """Keeps the current stream at work for about that long, where work takes time."""
    torch.cuda._sleep(int(milliseconds * 1_500_000))


def segments_of(pool_id):
    return [s for s in torch.cuda.memory_snapshot() if tuple(s["segment_pool_id"]) == tuple(pool_id)]


@case
def a_block_belongs_to_its_stream():
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = block(4 * MIB)
    address = x.data_ptr()
    del x
    other = block(4 * MIB)
    assert other.data_ptr() != address
    with torch.cuda.stream(side):
        assert block(4 * MIB).data_ptr() == address


@case
def a_block_that_another_stream_uses_comes_back_late():
    """As PyTorch's test_record_stream."""
    numbers, result, side = torch.FloatTensor([1, 2, 3, 4]).pin_memory(), torch.zeros(4, device="cuda"), torch.cuda.Stream()
    with torch.cuda.stream(side):
        copied = numbers.cuda(non_blocking=True)
        address = copied.data_ptr()
    torch.cuda.current_stream().wait_stream(side)
    copied.record_stream(torch.cuda.current_stream())
    busy()
    result.copy_(copied)
    del copied
    with torch.cuda.stream(side):
        early = torch.empty(4, device="cuda").zero_()
        assert early.data_ptr() != address, "reused while the other stream still reads it"
    assert result.tolist() == [1, 2, 3, 4]
    active = stats()["active_bytes.all.current"]
    torch.cuda.current_stream().synchronize()
    with torch.cuda.stream(side):
        assert torch.empty(4, device="cuda").data_ptr() == address
    assert stats()["active_bytes.all.current"] <= active


@case
def active_memory_waits_for_its_streams():
    side = torch.cuda.Stream()
    x = block(8 * MIB)
    allocated, active = torch.cuda.memory_allocated(), stats()["active_bytes.all.current"]
    with torch.cuda.stream(side):
        busy()
        x.add_(1)
    x.record_stream(side)
    del x
    assert torch.cuda.memory_allocated() == allocated - 8 * MIB and stats()["active_bytes.all.current"] == active
    torch.cuda.synchronize()
    block(1)
    assert stats()["active_bytes.all.current"] <= active - 8 * MIB + 512


@case
def events_and_streams_know_their_order():
    side, first, second = torch.cuda.Stream(priority=-1), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    assert side != torch.cuda.default_stream() and side.priority < 0 and side.query()
    first.record()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        side.wait_event(first)
        busy(10)
        second.record()
    second.synchronize()
    assert first.query() and second.query() and first.elapsed_time(second) >= 0
    raises((RuntimeError, ValueError), "", torch.cuda.Event().elapsed_time, second)


@case
def threads_have_a_current_stream_each():
    side, seen = torch.cuda.Stream(), []

    def other():
        seen.append(torch.cuda.current_stream() == torch.cuda.default_stream())
        seen.append(block(MIB).numel())

    with torch.cuda.stream(side):
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
        assert torch.cuda.current_stream() == side
    assert seen == [True, MIB]


@case
def pinned_memory_is_reused_but_not_in_use():
    """As PyTorch's test_caching_pinned_memory."""
    x = torch.FloatTensor([1]).pin_memory()
    address = x.data_ptr()
    assert x.is_pinned() and not torch.ones(3).is_pinned()
    del x
    x = torch.FloatTensor([1]).pin_memory()
    assert x.data_ptr() == address
    busy()
    on_gpu = torch.zeros(1, device="cuda")
    on_gpu.copy_(x, non_blocking=True)
    del x
    x = torch.FloatTensor([1]).pin_memory()
    assert x.data_ptr() != address, "reused while a copy reads it"
    assert on_gpu.tolist() == [1]
    back = torch.empty(1).pin_memory().copy_(on_gpu, non_blocking=True)
    torch.cuda.synchronize()
    assert back.item() == 1


@case
def pinned_memory_is_counted():
    if not hasattr(torch.cuda, "host_memory_stats"):
        return
    before = torch.cuda.host_memory_stats()
    x = torch.empty(3 * MIB, dtype=torch.uint8, pin_memory=True)
    after = torch.cuda.host_memory_stats()
    assert after["allocated_bytes.current"] >= before["allocated_bytes.current"] and after["allocations.current"] > 0
    assert x.is_pinned()


@segments_only
def a_graph_has_memory_of_its_own():
    clean()
    x = torch.ones(256, 256, device="cuda")
    graph, private = torch.cuda.CUDAGraph(), {(0, 0)}
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        y = (x + 1) * 2
    assert not torch.cuda.is_current_stream_capturing()
    owner, = [s for s in torch.cuda.memory_snapshot() if s["address"] <= y.data_ptr() < s["address"] + s["total_size"]]
    assert tuple(owner["segment_pool_id"]) == tuple(graph.pool()) and tuple(graph.pool()) not in private
    outside = torch.empty_like(x)
    assert not owner["address"] <= outside.data_ptr() < owner["address"] + owner["total_size"]
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    reserved = torch.cuda.memory_reserved()
    del y
    torch.cuda.empty_cache()
    assert segments_of(graph.pool()), "kept for the next replay"
    del graph
    gc.collect()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < reserved


@segments_only
def graphs_share_a_pool():
    clean()
    torch.cuda.synchronize()
    x, pool = torch.ones(MIB, device="cuda"), torch.cuda.graph_pool_handle()
    graphs = []
    for _ in range(3):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            y = x + 1
            del y
        graphs.append(graph)
    assert all(g.pool() == pool for g in graphs)
    assert sum(s["total_size"] for s in segments_of(pool)) <= 20 * MIB, "they take turns in it"


@segments_only
def functions_are_made_into_graphs():
    clean()
    layer, x = torch.nn.Linear(64, 32).cuda(), torch.randn(8, 64, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(layer, (x,))
    y = graphed(x.detach().clone().requires_grad_())
    y.sum().backward()
    assert y.shape == (8, 32) and layer.weight.grad.shape == (32, 64)


@segments_only
def a_pool_holds_what_is_allocated_in_it():
    clean()
    pool = torch.cuda.MemPool()
    reserved = torch.cuda.memory_reserved()
    with torch.cuda.use_mem_pool(pool):
        x = block(4 * MIB)
        owner, = pool.snapshot()
        assert owner["address"] <= x.data_ptr() < owner["address"] + owner["total_size"] and tuple(owner["segment_pool_id"]) == tuple(pool.id)
    y = block(4 * MIB)
    assert not owner["address"] <= y.data_ptr() < owner["address"] + owner["total_size"]
    assert pool.use_count() >= 1
    del x, y
    torch.cuda.empty_cache()
    assert pool.use_count() >= 1
    del pool, owner
    gc.collect()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == reserved


@segments_only
def only_the_threads_own_allocations_enter_its_pool():
    clean()
    pool, found = torch.cuda.MemPool(), []
    with torch.cuda.use_mem_pool(pool):
        x = block(3 * MIB)
        worker = threading.Thread(target=lambda: found.append(block(3 * MIB)))
        worker.start()
        worker.join()
    inside = [any(s["address"] <= t.data_ptr() < s["address"] + s["total_size"] for s in pool.snapshot()) for t in (x, found[0])]
    assert inside == [True, False]


def captured(function, pool=None):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, pool=pool):
        outputs = function()
    return graph, outputs


def live_in(pool_id):
    return {b["address"] for s in segments_of(pool_id) for b in s["blocks"] if b["state"] == "active_allocated"}


@segments_only
def a_pool_is_put_back_to_a_checkpoint():
    """As PyTorch's tests of the state that CUDA graph trees put back: what lived then lives again, at the same addresses."""
    clean()

    def two():
        return torch.ones(3 * MIB, dtype=torch.uint8, device="cuda"), torch.ones(600, dtype=torch.uint8, device="cuda")

    graph, outputs = captured(two)
    pool, device = graph.pool(), 0
    state, then = torch._C._cuda_getCheckpointState(device, pool), live_in(pool)
    assert then == {t.data_ptr() for t in outputs}
    assert torch._C._cuda_checkPoolLiveAllocations(device, pool, then)
    second, more = captured(two, pool)
    assert live_in(pool) == then | {t.data_ptr() for t in more}
    assert not torch._C._cuda_checkPoolLiveAllocations(device, pool, then)
    stale = [t.untyped_storage()._cdata for t in more]
    torch._C._cuda_setCheckpointPoolState(device, state, stale, [])
    assert live_in(pool) == then and torch._C._cuda_checkPoolLiveAllocations(device, pool, then)
    third, again = captured(two, pool)
    assert {t.data_ptr() for t in again} == {t.data_ptr() for t in more}, "as if the second had never been"
    del graph, second, third


@case
def the_history_tells_what_happened():
    torch.cuda.memory._record_memory_history(max_entries=1000)
    try:
        x = block(5 * MIB)
        address = x.data_ptr()
        del x
        snapshot = torch.cuda.memory._snapshot()
        actions = ("alloc", "free_requested", "free_completed")
        mine = [entry for entry in snapshot["device_traces"][0] if entry["addr"] == address and entry["action"] in actions]
        assert [entry["action"] for entry in mine] == list(actions)
        assert mine[0]["size"] == 5 * MIB and any(frame["name"] == "block" for entry in mine for frame in entry["frames"])
        raises(torch.cuda.OutOfMemoryError, "", block, 1 << 50)
        oom = [entry for entry in torch.cuda.memory._snapshot()["device_traces"][0] if entry["action"] == "oom"]
        assert oom and oom[-1]["size"] == 1 << 50
    finally:
        torch.cuda.memory._record_memory_history(None)
    y = block(5 * MIB)
    assert not any(entry["addr"] == y.data_ptr() for entry in torch.cuda.memory._snapshot()["device_traces"][0])


@case
def the_history_is_bounded_and_can_be_drawn():
    torch.cuda.memory._record_memory_history(max_entries=10, stacks="python")
    try:
        for _ in range(30):
            block(2 * MIB)
        snapshot = torch.cuda.memory._snapshot()
        assert len(snapshot["device_traces"][0]) == 10
        from torch.cuda import _memory_viz

        assert "<html" in _memory_viz.trace_plot(snapshot).lower() and "<html" in _memory_viz.segment_plot(snapshot).lower()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot.pickle")
            torch.cuda.memory._dump_snapshot(path)
            assert os.path.getsize(path) > 1000
    finally:
        torch.cuda.memory._record_memory_history(None)


@case
def memory_is_used_by_whoever_shares_it():
    x = torch.arange(1000, device="cuda")
    before = torch.cuda.memory_allocated()
    views = [x[10:20], x.view(10, 100), x.detach()]
    assert torch.cuda.memory_allocated() == before
    address = x.data_ptr()
    del x
    assert torch.cuda.memory_allocated() == before and views[2].data_ptr() == address
    views.clear()
    assert torch.cuda.memory_allocated() < before


@case
def a_storage_is_resized():
    x = block(2 * MIB)
    before = torch.cuda.memory_allocated()
    x.untyped_storage().resize_(0)
    assert torch.cuda.memory_allocated() == before - 2 * MIB
    x.untyped_storage().resize_(4 * MIB)
    assert torch.cuda.memory_allocated() == before + 2 * MIB


@case
def gradients_take_what_parameters_take():
    clean()
    layer = torch.nn.Linear(1024, 512, bias=False).cuda()
    x = torch.ones(4, 1024, device="cuda")
    layer(x).sum().backward()
    layer.zero_grad(set_to_none=True)
    before = torch.cuda.memory_allocated()
    layer(x).sum().backward()
    assert torch.cuda.memory_allocated() == before + 1024 * 512 * 4
    optimizer = torch.optim.Adam(layer.parameters())
    optimizer.step()
    assert torch.cuda.memory_allocated() - before == 3 * 1024 * 512 * 4


def grows_in_place():
    """Of segments that grow: one for all, mapped piece by piece and given back."""
    clean()
    free = torch.cuda.mem_get_info()[0]
    kept = [block(size * MIB) for size in (30, 50, 70)]
    segments = {s["address"] for s in torch.cuda.memory_snapshot() if s["is_expandable"] and s["segment_type"] == "large" and s["stream"] == 0}
    assert len(segments) == 1 and [b.data_ptr() - kept[0].data_ptr() for b in kept] == [0, 30 * MIB, 80 * MIB]
    address = kept[0].data_ptr()
    del kept[0], kept[0]
    large = block(80 * MIB)
    assert large.data_ptr() == address, "neighbours are one block again"
    kept.clear()
    del large
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info()[0] == free


if EXPANDABLE:
    case(grows_in_place)


if __name__ == "__main__":
    main(CASES, sys.argv[1:])
