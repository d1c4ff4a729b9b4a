"""Training programs that report what their memory is (truth.py).

    memoir run -o CAPTURE -- python programs.py NAME TRUTH.json
"""

import contextlib
import copy
import os
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from truth import Truth


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, words=500, width=64, layers=3, checkpointed=None):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight  # tied
        self.checkpointed = checkpointed

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x) if self.checkpointed is None else checkpoint(block, x, use_reentrant=self.checkpointed)
        return self.head(x)


def language_loss(model, tokens):
    return F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def transformer(truth, checkpointed=None, autocast=False):
    model = Transformer(checkpointed=checkpointed)
    optimizer = torch.optim.AdamW(model.parameters())
    truth.models, truth.optimizers = [model], [optimizer]
    for _ in range(3):
        for _ in range(2):  # gradient accumulation
            tokens = torch.randint(0, 500, (8, 64))
            with truth.step(), torch.autocast(truth.device, torch.bfloat16, enabled=autocast):
                loss = language_loss(model, tokens)
            truth.look(inputs=[tokens])
            loss.backward()
            truth.look(inputs=[tokens])
        optimizer.step()
        truth.look(inputs=[tokens])
        optimizer.zero_grad()


def checkpointed(truth):
    transformer(truth, checkpointed=False)


def checkpointed_reentrant(truth):
    transformer(truth, checkpointed=True)


def autocast(truth):
    transformer(truth, autocast=True)


def train(truth, model, optimizer, batches, loss_of, steps=3, data=(), set_to_none=True):
    truth.models, truth.optimizers = [model], [optimizer]
    for _, batch in zip(range(steps), batches):
        with truth.step():
            loss = loss_of(model, batch)
        truth.look(inputs=[*batch, *data])
        loss.backward()
        truth.look(inputs=[*batch, *data])
        optimizer.step()
        truth.look(inputs=[*batch, *data])
        optimizer.zero_grad(set_to_none=set_to_none)


def conv_net(truth):
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, 10))
    data = torch.utils.data.TensorDataset(torch.randn(96, 3, 32, 32), torch.randint(0, 10, (96,)))
    loader = torch.utils.data.DataLoader(data, batch_size=32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(truth, model, optimizer, loader, lambda model, batch: F.cross_entropy(model(batch[0]), batch[1]), data=data.tensors)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(32, 128, num_layers=2, batch_first=True), nn.Linear(128, 8)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


def lstm(truth):
    model = Recurrent()
    optimizer = torch.optim.RMSprop(model.parameters(), momentum=0.1)
    batches = ([torch.randn(16, 40, 32), torch.randn(16, 8)] for _ in range(3))
    train(truth, model, optimizer, batches, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]))


def gan(truth):
    width = 64
    make = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 128))
    judge = nn.Sequential(nn.Linear(128, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))
    makes, judges = torch.optim.Adam(make.parameters()), torch.optim.Adam(judge.parameters())
    truth.models, truth.optimizers = [make, judge], [makes, judges]
    for _ in range(3):
        real, noise = torch.randn(256, 128), torch.randn(256, 16)
        with truth.step():
            loss = F.softplus(-judge(real)).mean() + F.softplus(judge(make(noise).detach())).mean()
        truth.look(inputs=[real, noise])
        loss.backward()
        judges.step()
        judges.zero_grad()
        with truth.step():
            loss = F.softplus(-judge(make(noise))).mean()
        truth.look(inputs=[real, noise])
        loss.backward()
        makes.step()
        truth.look(inputs=[real, noise])
        makes.zero_grad()
        judges.zero_grad()


def frozen_backbone(truth):
    backbone = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()).requires_grad_(False)
    model = nn.ModuleDict({"backbone": backbone, "head": nn.Linear(256, 10)})
    optimizer = torch.optim.Adam(model["head"].parameters())
    batches = ([torch.randn(128, 128), torch.randint(0, 10, (128,))] for _ in range(3))
    train(truth, model, optimizer, batches, lambda model, batch: F.cross_entropy(model["head"](model["backbone"](batch[0])), batch[1]))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return 2 * x * gradient


class Squares(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 256), nn.Linear(256, 4)

    def forward(self, x):
        return self.last(Square.apply(self.first(x)))


def custom_function(truth):
    model = Squares()
    optimizer = torch.optim.Adagrad(model.parameters())
    batches = ([torch.randn(256, 64), torch.randn(256, 4)] for _ in range(3))
    train(truth, model, optimizer, batches, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]))


def double_backward(truth):
    judge = nn.Sequential(nn.Linear(64, 256), nn.Softplus(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(judge.parameters())
    truth.models, truth.optimizers = [judge], [optimizer]
    for _ in range(3):
        x = torch.randn(256, 64, requires_grad=True)
        with truth.step():
            (slope,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
            loss = ((slope.norm(dim=1) - 1) ** 2).mean()
            del slope
        truth.look(inputs=[x])
        loss.backward()
        optimizer.step()
        truth.look(inputs=[x])
        optimizer.zero_grad()


def raw_leaves(truth):
    """No module, no optimizer."""
    first, last = torch.randn(64, 256, requires_grad=True), torch.randn(256, 1, requires_grad=True)
    truth.leaves = [first, last]
    for _ in range(4):
        x, target = torch.randn(128, 64), torch.randn(128, 1)
        with truth.step():
            loss = F.mse_loss(torch.tanh(x @ first) @ last, target)
        truth.look(inputs=[x, target])
        loss.backward()
        truth.look(inputs=[x, target])
        with torch.no_grad():
            for leaf in truth.leaves:
                leaf -= 0.01 * leaf.grad
                leaf.grad = None


def inference(truth):
    model = Transformer().eval()
    truth.models = [model]
    for _ in range(3):
        tokens = torch.randint(0, 500, (8, 64))
        with truth.step(), torch.no_grad():
            scores = model(tokens)
        truth.look(inputs=[tokens])
        del scores


class CachedAttention(nn.Module):
    """Appends the given keys and values to earlier ones, as transformers' DynamicCache does."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        cache[:] = [torch.cat([before, now], -2) for before, now in zip(cache, (k, v))] if cache else [k.contiguous(), v.contiguous()]
        return self.out(F.scaled_dot_product_attention(q, *cache).transpose(1, 2).flatten(-2))


class Generator(nn.Module):
    def __init__(self, words=500, width=64, layers=3):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(words, width), nn.ModuleList(CachedAttention(width) for _ in range(layers)), nn.Linear(width, words)

    def forward(self, tokens, caches):
        x = self.embed(tokens)
        for layer, cache in zip(self.layers, caches):
            x = x + layer(x, cache)
        return self.head(x[:, -1])


def generation(truth):
    """A prompt, then word after word."""
    model = Generator().eval()
    truth.models = [model]
    tokens, caches = torch.randint(0, 500, (8, 128)), [[] for _ in range(3)]
    for _ in range(5):
        with truth.step(), torch.no_grad():
            scores = model(tokens, caches)
        truth.look(inputs=[tokens], caches=[part for cache in caches for part in cache])
        tokens = scores.argmax(-1, keepdim=True)
        del scores


def in_memory(truth):
    """Batches and targets cut from a data set that the program holds, in three ways; an average of the model's past; sparse gradients."""
    model = nn.Sequential(nn.Embedding(1000, 64, sparse=True), nn.Flatten(), nn.Linear(4 * 64, 64))
    average = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    truth.models, truth.optimizers = [model, average], [optimizer]
    words, targets = torch.randint(0, 1000, (512, 4)), torch.randn(512, 64)
    for cut in (lambda t: t[torch.randperm(512)[:128]], lambda t: t[:128].clone(), lambda t: torch.stack(list(t[:128])), lambda t: t[128:256] * 1):
        x, y = cut(words), cut(targets)
        with truth.step():
            loss = F.mse_loss(model(x), y)
        truth.look(inputs=[x, y, words, targets])
        loss.backward()
        truth.look(inputs=[x, y, words, targets])
        optimizer.step()
        with torch.no_grad():
            for mean, parameter in zip(average.parameters(), model.parameters()):
                mean.lerp_(parameter, 0.1)
        truth.look(inputs=[x, y, words, targets])
        optimizer.zero_grad()


def lazy(truth):
    """Parameters that are made at the first call."""
    model = nn.Sequential(nn.LazyLinear(256), nn.ReLU(), nn.LazyLinear(8))
    truth.models = [model]
    x = torch.randn(64, 64)
    with truth.step():
        model(x)
    for _ in range(3):
        truth.look(inputs=[x])


@contextlib.contextmanager
def a_world_of_one():
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
        yield
        torch.distributed.destroy_process_group()


def layers():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))


def ddp(truth, view=False):
    with a_world_of_one():
        model = nn.parallel.DistributedDataParallel(layers(), gradient_as_bucket_view=view)
        optimizer = torch.optim.Adam(model.parameters())
        batches = ([torch.randn(256, 64), torch.randn(256, 8)] for _ in range(3))
        train(truth, model, optimizer, batches, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]), set_to_none=not view)


def ddp_bucket_view(truth):
    ddp(truth, view=True)


def fsdp2(truth):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    with a_world_of_one():
        model, mesh = layers(), init_device_mesh("cpu", (1,))
        for layer in [layer for layer in model if isinstance(layer, nn.Linear)] + [model]:
            fully_shard(layer, mesh=mesh)
        groups = [module._get_fsdp_state()._fsdp_param_group for module in model.modules() if hasattr(module, "_get_fsdp_state")]
        truth.gathered = lambda: [getattr(one, "_unsharded_param", None) for group in groups if group for one in group.fsdp_params]
        optimizer = torch.optim.Adam(model.parameters())
        batches = ([torch.randn(256, 64), torch.randn(256, 8)] for _ in range(3))
        train(truth, model, optimizer, batches, lambda model, batch: F.mse_loss(model(batch[0]), batch[1]))


def main():
    torch.set_default_device(os.environ.get("DEVICE", "cpu"))
    torch.manual_seed(0)
    truth = Truth()
    globals()[sys.argv[1]](truth)
    truth.write(sys.argv[2])


if __name__ == "__main__":
    main()
