"""A training program as it would be written for torchrun: `parallel_programs.py STYLE...` trains in each style, and prints its figures as JSON. It reads its
rank from the environment and does not depend on simulation. Checked values come from the host: kernels do nothing.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

WIDTH = 256
STYLES = {}


def style(function):
    STYLES[function.__name__] = function
    return function


def blocks():
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(3)]).cuda()


def train(model):
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.randn(32, WIDTH, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    local = [p.to_local() if hasattr(p, "to_local") else p for p in model.parameters()]
    return sum(p.numel() * p.element_size() for p in local)


@style
def ddp():
    return train(nn.parallel.DistributedDataParallel(blocks(), device_ids=[torch.cuda.current_device()]))


@style
def fsdp1():
    return train(FullyShardedDataParallel(blocks(), device_id=torch.cuda.current_device()))


@style
def fsdp2():
    model = blocks()
    for block in model:
        fully_shard(block)
    return train(fully_shard(model))


def split(model, mesh):
    for block in model:
        parallelize_module(block, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return model


@style
def tensor_parallel():
    return train(split(blocks(), init_device_mesh("cuda", (dist.get_world_size(),))))


@style
def tensor_parallel_and_fsdp2():
    mesh = init_device_mesh("cuda", (dist.get_world_size() // 2, 2), mesh_dim_names=("data", "tensor"))
    model = split(blocks(), mesh["tensor"])
    for block in model:
        fully_shard(block, mesh=mesh["data"])
    return [train(fully_shard(model, mesh=mesh["data"])), total(mesh["data"].get_group()), total(mesh["tensor"].get_group())]


def total(group):
    """How many of the group's ranks put in a one."""
    one = torch.tensor([1.0]).cuda()
    dist.all_reduce(one, group=group)
    return one.cpu().item()


@style
def groups():
    rank, world = dist.get_rank(), dist.get_world_size()
    pairs = [dist.new_group([first, first + 1]) for first in range(0, world, 2)]
    alone = dist.new_group([rank], use_local_synchronization=True)
    return [total(pairs[rank // 2]), total(alone), total(None)]


@style
def objects():
    seen = [None] * dist.get_world_size()
    dist.all_gather_object(seen, {"rank": dist.get_rank()})
    dist.barrier()
    return [seen[0]["rank"], seen[-1]["rank"]]


@style
def unequal_objects():
    """Torch computes their sizes on the device: this needs small values, too."""
    rank, seen = dist.get_rank(), [None] * dist.get_world_size()
    dist.all_gather_object(seen, "x" * (1 + 10 * rank))
    told = [{"from": rank}, "second"] if rank == 0 else [None, None]
    dist.broadcast_object_list(told, 0)
    return [[len(text) for text in seen], told]


@style
def rings():
    rank, world = dist.get_rank(), dist.get_world_size()
    got = torch.zeros(1).cuda()
    right = dist.P2POp(dist.isend, torch.tensor([10.0 + rank]).cuda(), (rank + 1) % world)
    for work in dist.batch_isend_irecv([right, dist.P2POp(dist.irecv, got, (rank - 1) % world)]):
        work.wait()
    out = torch.zeros(world).cuda()
    dist.all_to_all_single(out, torch.tensor([float(100 * rank + to) for to in range(world)]).cuda())
    return [got.cpu().item(), out.cpu().tolist()]


@style
def gloo():
    numbers = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(numbers, torch.tensor([2.0]))
    return sum(number.item() for number in numbers)


def main(backend, *names):
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    eager = {"device_id": device} if backend.endswith("!") else {}
    dist.init_process_group(backend.removesuffix("!"), **eager)
    seen = {name: STYLES[name]() for name in names}
    seen["rank"], seen["world"], seen["local rank"] = dist.get_rank(), dist.get_world_size(), device.index
    seen["reserved"] = torch.cuda.max_memory_reserved()
    dist.destroy_process_group()
    sys.stdout.write(json.dumps(seen) + "\n")     # print writes the end of a line by itself, and ranks share the pipe
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
