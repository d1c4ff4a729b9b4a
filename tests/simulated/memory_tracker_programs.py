"""Models under torch's own MemoryTracker, with Memoir in the same process: memory_tracker_programs.py FOLDER recording|ours NAME...

FOLDER/NAME.pickle is what torch's tracker saved. recording: FOLDER/NAME is the capture. ours: FOLDER/NAME.ours.pickle is what memoir.MemoryTracker saved.
"""

import gc
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed._tools.memory_tracker import MemoryTracker
from torch.utils.checkpoint import checkpoint

import memoir

MIB = 1 << 20
PROGRAMS = {}


def program(function):
    """Returns the module to be watched, and what runs then."""
    PROGRAMS[function.__name__] = function
    return function


def steps(model, make_input, optimizer=None, count=2):
    optimizer = optimizer or torch.optim.AdamW(model.parameters())

    def run():
        for _ in range(count):
            optimizer.zero_grad()
            model(make_input()).float().pow(2).mean().backward()
            optimizer.step()

    return model, run


@program
def convolutions():
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 8, 3), nn.Flatten(), nn.Linear(968, 10)).cuda()
    return steps(model, lambda: torch.randn(4, 3, 28, 28, device="cuda"), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9))


@program
def transformer():
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    return steps(model, lambda: torch.randn(4, 64, 128, device="cuda"))


@program
def lstm():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = nn.LSTM(64, 128, 2, dropout=0.1), nn.Linear(128, 8)

        def forward(self, x):
            return self.out(self.rnn(x)[0])

    return steps(Net().cuda(), lambda: torch.randn(12, 4, 64, device="cuda"))


@program
def tied_weights():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.block, self.head = nn.Embedding(1000, 64), nn.Linear(64, 64), nn.Linear(64, 1000, bias=False)
            self.same = self.block  # a second path to one module
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.same(self.block(self.embedding(x))))

    return steps(Net().cuda(), lambda: torch.zeros(8, 16, dtype=torch.long, device="cuda"))


@program
def mixed_precision():
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 16)).cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters(), fused=True), torch.amp.GradScaler("cuda")

    def run():
        for _ in range(2):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(torch.randn(32, 256, device="cuda")), torch.zeros(32, dtype=torch.long, device="cuda"))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()

    return model, run


@program
def checkpointing():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(3))

        def forward(self, x):
            for i, block in enumerate(self.blocks):
                x = checkpoint(block, x, use_reentrant=i == 1)
            return x

    return steps(Net().cuda(), lambda: torch.randn(64, 256, device="cuda", requires_grad=True))


def alone_in_a_group():
    import torch.distributed as dist

    if not dist.is_initialized():
        dist.init_process_group("nccl", rank=0, world_size=1, store=dist.HashStore())


@program
def fsdp():
    from torch.distributed.fsdp import FullyShardedDataParallel

    alone_in_a_group()
    blocks = nn.Sequential(*(FullyShardedDataParallel(nn.Linear(256, 256).cuda(), device_id=0) for _ in range(2)))
    return steps(FullyShardedDataParallel(blocks, device_id=0), lambda: torch.randn(32, 256, device="cuda"))


@program
def fsdp2():
    """Its hooks run operators before a module's forward pass."""
    from torch.distributed.fsdp import fully_shard

    alone_in_a_group()
    model = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256)).cuda()
    for part in (model[0], model[2]):
        fully_shard(part)
    return steps(fully_shard(model), lambda: torch.randn(32, 256, device="cuda"))


class Generator(nn.Sequential):
    pass


class Discriminator(nn.Sequential):
    pass


@program
def several_roots():
    make = Generator(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    judge = Discriminator(nn.Linear(64, 128), nn.LeakyReLU(), nn.Linear(128, 128), nn.LeakyReLU(), nn.Linear(128, 1)).cuda()
    loss, optimizers = nn.BCEWithLogitsLoss(), [torch.optim.Adam(model.parameters()) for model in (make, judge)]

    def run():
        for _ in range(2):
            for wanted, optimizer in zip((1.0, 0.0), optimizers):
                loss(judge(make(torch.randn(8, 16, device="cuda"))), torch.full((8, 1), wanted, device="cuda")).backward()
                optimizer.step()
                optimizer.zero_grad()

    return make, run


@program
def part_of_a_model():
    model, run = transformer()
    return model.layers[1], run


@program
def retries():
    """More than the device has, unless what is cached is given back first."""
    model = nn.Linear(8, 8).cuda()

    def run():
        for size in (400, 401, 402):
            torch.empty(size * MIB, dtype=torch.uint8, device="cuda")
        model(torch.randn(2, 8, device="cuda")).sum().backward()
        kept = torch.empty(1400 * MIB, dtype=torch.uint8, device="cuda")
        try:
            torch.empty(800 * MIB, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            pass
        del kept
        torch.zeros(3, device="cuda") + 1

    return model, run


def run_beside(folder, name, ours):
    """torch's tracker during a recording, or together with Memoir's own tracker `ours`."""
    module, run = PROGRAMS[name]()
    tracker = MemoryTracker()
    if ours is None:
        memoir.start(os.path.join(folder, name), ops="dispatch", quiet=True)
    tracker.start_monitor(module)
    if ours is not None:
        ours.start_monitor(module)
    # Python objects of torch's tracker trigger collections while it reads its figures one by one: between two figures.
    gc.collect()
    gc.disable()
    run()
    gc.enable()
    if ours is not None:
        ours.stop()
    tracker.stop()
    if ours is None:
        memoir.stop()
    else:
        ours.save_stats(os.path.join(folder, f"{name}.ours.pickle"))
    tracker.save_stats(os.path.join(folder, f"{name}.pickle"))
    torch.cuda.empty_cache()


if __name__ == "__main__":
    folder, which, *names = sys.argv[1:]
    tracker = memoir.MemoryTracker() if which == "ours" else None
    for name in names:
        run_beside(folder, name, tracker)
