"""Training programs for the simulated GPU. Each function returns its figures; `python workloads.py NAME...` prints all as JSON.

One process runs them all: importing torch takes longer than any of them.
"""

import gc
import json
import sys

import torch
import torch.nn.functional as F
from torch import nn

MIB = 1 << 20
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def transformer(width=256, layers=2):
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda()


def train(model, make_input, steps=3, dtype=None, **optimizer_options):
    optimizer = torch.optim.AdamW(model.parameters(), **optimizer_options)
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype or torch.float32, enabled=dtype is not None):
            loss = model(make_input()).float().pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def parameter_bytes(model):
    return sum(p.numel() * p.element_size() for p in model.parameters())


@case
def linear_algebra_and_fourier():
    a = torch.randn(16, 16, device="cuda")
    a = a @ a.t() + torch.eye(16, device="cuda")
    for name in ("inv", "cholesky", "qr", "svd", "eigh", "det", "slogdet"):
        getattr(torch.linalg, name)(a)
    return {"spectrum": list(torch.fft.rfft2(torch.randn(2, 16, 16, device="cuda")).shape)}


@case
def mlp():
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
    train(model, lambda: torch.randn(64, 512, device="cuda"))
    size = parameter_bytes(model)
    # Weights, gradients, two moments; each block rounded up to 512 bytes; and cuBLAS's workspaces.
    return {"parameters": size, "allocated": torch.cuda.memory_allocated()}


@case
def transformer_in_both_precisions():
    peaks = []
    for dtype in (None, torch.bfloat16):
        torch.cuda.reset_peak_memory_stats()
        base = torch.cuda.memory_allocated()
        train(transformer(), lambda: torch.randn(8, 128, 256, device="cuda"), dtype=dtype)
        peaks.append(torch.cuda.max_memory_allocated() - base)
    return {"float32": peaks[0], "bfloat16": peaks[1]}


@case
def fused_optimizer_scaler_and_clipping():
    model = nn.Sequential(nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 4)).cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters(), fused=True), torch.amp.GradScaler("cuda")
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(torch.randn(8, 128, device="cuda")), torch.zeros(8, dtype=torch.long, device="cuda"))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return {"gradients": sum(p.grad is not None for p in model.parameters())}


@case
def convolutions_and_normalisation():
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 3, stride=2), nn.Flatten(),
                          nn.LazyLinear(10)).cuda()
    for benchmark in (False, True):
        torch.backends.cudnn.benchmark = benchmark
        train(model, lambda: torch.randn(4, 3, 32, 32, device="cuda"), steps=2)
    return {"shape": list(model(torch.randn(2, 3, 32, 32, device="cuda")).shape)}


@case
def recurrent():
    lstm = nn.LSTM(32, 64, 2, dropout=0.1, bidirectional=True).cuda()
    output, (hidden, _) = lstm(torch.randn(5, 3, 32, device="cuda"))
    output.sum().backward()
    nn.GRU(8, 16).cuda()(torch.randn(5, 3, 8, device="cuda"))[0].sum().backward()
    nn.LSTM(8, 16, 2, proj_size=4).cuda().half()(torch.randn(5, 3, 8, device="cuda").half())[0].sum().backward()
    return {"output": list(output.shape), "hidden": list(hidden.shape), "gradient": list(lstm.weight_ih_l1.grad.shape)}


@case
def streams():
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        block = torch.zeros(8 * MIB, dtype=torch.uint8, device="cuda")
        kept = block + 1
    block.record_stream(torch.cuda.current_stream())
    torch.cuda.current_stream().wait_stream(side)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    address = block.data_ptr()
    del block
    torch.cuda.synchronize()
    end.record()
    end.synchronize()
    other = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
    with torch.cuda.stream(side):
        again = torch.empty(8 * MIB, dtype=torch.uint8, device="cuda")
    return {"time": start.elapsed_time(end) >= 0, "query": end.query() and side.query(), "kept": kept.numel(),
            "other stream has its own": other.data_ptr() != address, "its stream gets it back": again.data_ptr() == address}


@case
def graphs():
    model, x = nn.Linear(256, 256).cuda(), torch.randn(32, 256, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(x).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    model.zero_grad()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
        y.sum().backward()
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    private = {tuple(s["segment_pool_id"]) for s in torch.cuda.memory_snapshot()} - {(0, 0)}
    callable_ = torch.cuda.make_graphed_callables(nn.Linear(256, 64).cuda(), (x.requires_grad_(),))
    callable_(x).sum().backward()
    return {"private pools": len(private), "capturing": torch.cuda.is_current_stream_capturing()}


@case
def out_of_memory_and_recovery():
    gc.collect()
    torch.cuda.empty_cache()
    before, ooms = torch.cuda.memory_stats(), torch.cuda.memory_stats()["num_ooms"]
    free, total = torch.cuda.mem_get_info()
    everything = torch.empty(free // (2 * MIB) * 2 * MIB, dtype=torch.uint8, device="cuda")
    left = torch.cuda.mem_get_info()[0]
    try:
        torch.empty(400 * MIB, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        message = str(error)
    del everything
    torch.cuda.empty_cache()
    after = torch.cuda.memory_stats()
    return {"left": left, "message": message[:200], "ooms": after["num_ooms"] - ooms, "free again": torch.cuda.mem_get_info()[0] == free,
            "allocated": after["allocated_bytes.all.current"] - before["allocated_bytes.all.current"], "total": total}


@case
def memory_pool():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.zeros(4 * MIB, dtype=torch.uint8, device="cuda")
    inside = [s["address"] <= x.data_ptr() < s["address"] + s["total_size"] for s in pool.snapshot()]
    return {"segments": len(inside), "holds it": any(inside)}


@case
def pinned_and_copies():
    host = torch.arange(1000.0).pin_memory()
    device = host.to("cuda", non_blocking=True)
    large = torch.ones(4 * MIB, device="cpu").cuda()
    return {"pinned": host.is_pinned(), "back": bool((device.cpu() == host).all()), "large": large.cpu().abs().sum().item(),
            "pageable": torch.ones(3).is_pinned()}


@case
def devices():
    if torch.cuda.device_count() < 2:
        return {"count": 1}
    second = torch.zeros(MIB, device="cuda:1")
    moved = second.to("cuda:0")
    nn.DataParallel(nn.Linear(8, 8).cuda(), [0, 1])(torch.randn(4, 8, device="cuda")).sum().backward()
    return {"count": torch.cuda.device_count(), "peer": torch.cuda.can_device_access_peer(0, 1), "moved": moved.device.index,
            "second": torch.cuda.memory_allocated(1) >= 4 * MIB}


def check_statistics():
    """memory_stats closes over itself and over the snapshot, whatever ran."""
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        segments = [s for s in torch.cuda.memory_snapshot() if s["device"] == device]
        total = lambda key: sum(s[key] for s in segments)
        assert stats["reserved_bytes.all.current"] == total("total_size")
        assert stats["allocated_bytes.all.current"] == total("allocated_size")
        assert stats["active_bytes.all.current"] == total("active_size")
        if not any(s["is_expandable"] for s in segments):
            assert stats["segment.all.current"] == len(segments)
        for what in ("allocated_bytes", "reserved_bytes", "active_bytes", "allocation", "segment"):
            pools = [stats[f"{what}.{pool}.current"] for pool in ("small_pool", "large_pool")]
            assert stats[f"{what}.all.current"] == sum(pools)
            assert stats[f"{what}.all.allocated"] - stats[f"{what}.all.freed"] == stats[f"{what}.all.current"]
            assert stats[f"{what}.all.peak"] >= stats[f"{what}.all.current"]
        free, whole = torch.cuda.mem_get_info(device)
        assert whole - free >= stats["reserved_bytes.all.current"]


def main(names):
    results = {}
    for name in names or CASES:
        results[name] = CASES[name]()
        check_statistics()
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
