"""One rank of a model that is parallel three ways, with one process of `memoir run --simulate h100 --sim-rank R --sim-world N`: parallel_model.py STEPS

Ranks are (stage of the pipeline, data, tensor), tensor fastest, as Megatron and TorchTitan place them. The first stage has the embedding, the last the logits and the loss;
within a stage each block is split over `tensor` and sharded by FSDP over `data`. The input from the previous stage and the gradient from the next one are
created here.
"""

import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

STAGES, TENSOR, WIDTH, BLOCKS, WORDS, BATCH, LENGTH = 4, 4, 256, 2, 8192, 2, 128


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Stage(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH) if number == 0 else None
        self.blocks = torch.nn.ModuleList(Block() for _ in range(BLOCKS))
        self.logits = torch.nn.Linear(WIDTH, WORDS) if number == STAGES - 1 else None

    def forward(self, x):
        x = self.embedding(x) if self.embedding is not None else x
        for block in self.blocks:
            x = block(x)
        return self.logits(x) if self.logits is not None else x


def main(steps):
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    data = dist.get_world_size() // (STAGES * TENSOR)
    mesh = init_device_mesh("cuda", (STAGES, data, TENSOR), mesh_dim_names=("stage", "data", "tensor"))
    number = mesh["stage"].get_local_rank()
    torch.manual_seed(number)
    model = Stage(number).cuda()
    for block in model.blocks:
        parallelize_module(block, mesh["tensor"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(block, mesh=mesh["data"])
    fully_shard(model, mesh=mesh["data"])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        x = torch.randint(WORDS, (BATCH, LENGTH), device="cuda") if number == 0 else torch.randn(BATCH, LENGTH, WIDTH, device="cuda", requires_grad=True)
        y = model(x)
        if number == STAGES - 1:
            torch.nn.functional.cross_entropy(y.flatten(0, 1), torch.randint(WORDS, (BATCH * LENGTH,), device="cuda")).backward()
        else:
            y.backward(torch.randn_like(y))
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
