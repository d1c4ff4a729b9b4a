"""Programs that exercise the allocator: optimizers, streams, graphs, fragmentation, growing segments, an error."""

import torch
from torch import nn

from registry import MIB, program, train
from transformers_and_experts import decoder


@program
def optimizers():
    for kind in (torch.optim.SGD, torch.optim.Adagrad, torch.optim.Adadelta, torch.optim.NAdam, torch.optim.Adamax, torch.optim.Adafactor, torch.optim.Muon, torch.optim.RAdam):
        model = nn.Sequential(nn.Linear(700, 900, bias=False), nn.Linear(900, 300, bias=False)).cuda()
        train(model, lambda _: (torch.randn(64, 700, device="cuda"),), 2, optimizer=kind)


@program
def lbfgs():
    model, x = nn.Linear(500, 500).cuda(), torch.randn(64, 500, device="cuda")
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, tolerance_grad=0, tolerance_change=0)

    def closure():
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return 1.0
    for _ in range(2):
        optimizer.step(closure)


@program
def streams():
    side, model = torch.cuda.Stream(), nn.Linear(1024, 1024).cuda()
    pinned = torch.randn(256, 1024).pin_memory()
    for _ in range(10):
        with torch.cuda.stream(side):
            batch = pinned.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        batch.record_stream(torch.cuda.current_stream())
        model(batch).sum().backward()
        torch.cuda.synchronize()


@program
def graphs():
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    x, side = torch.randn(64, 512, device="cuda"), torch.cuda.Stream()

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(x).pow(2).mean().backward()
        optimizer.step()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()


@program
def compiled():
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.LayerNorm(2048), nn.Linear(2048, 512)).cuda()
    train(torch.compile(model), lambda _: (torch.randn(64, 512, device="cuda"),), 4)


@program
def fragmented():
    kept = []
    for number in range(200):
        block = torch.empty((1 + number * 37 % 61) * MIB // 3, dtype=torch.uint8, device="cuda")
        if number % 3 == 0:
            kept.append(block)
        if number % 50 == 49:
            kept = kept[::2]
            torch.cuda.empty_cache()


@program
def expandable():
    decoder(False, batch=2, length=512, width=512, layers=4)


@program
def out_of_memory():
    """Within a fraction of the card."""
    torch.cuda.set_per_process_memory_fraction(0.02)
    decoder(False, batch=8, length=2048, width=1024, layers=8)
