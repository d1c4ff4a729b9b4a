"""Dense layers, attention, mixtures of experts, generation."""

import torch
import torch.nn.functional as F
from torch import nn

from registry import encoder, program, train


@program
def perceptron():
    train(nn.Sequential(nn.Linear(784, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)), lambda _: (torch.randn(256, 784, device="cuda"),), 5)


@program
def encoder_fp32():
    train(encoder(), lambda _: (torch.randn(8, 256, 512, device="cuda"),))


@program
def encoder_bf16_fused():
    train(encoder(1024), lambda _: (torch.randn(8, 512, 1024, device="cuda"),), dtype=torch.bfloat16,
          optimizer=lambda parameters, lr: torch.optim.AdamW(parameters, lr=lr, fused=True))


@program
def encoder_lengths():
    """Each step has another length, as with sentences."""
    train(encoder(), lambda step: (torch.randn(4, 97 + 61 * step % 400, 512, device="cuda"),), 8, dtype=torch.float16)


class Decoder(nn.Module):
    def __init__(self, width, layers, heads, vocabulary, checkpointed):
        super().__init__()
        self.words, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.layers = nn.ModuleList(nn.ModuleDict({"norm": nn.RMSNorm(width), "qkv": nn.Linear(width, 3 * width, bias=False), "out": nn.Linear(width, width, bias=False),
                                                   "norm2": nn.RMSNorm(width), "gate": nn.Linear(width, 8 * width // 3, bias=False), "up": nn.Linear(width, 8 * width // 3, bias=False),
                                                   "down": nn.Linear(8 * width // 3, width, bias=False)}) for _ in range(layers))
        self.heads, self.checkpointed = heads, checkpointed

    def layer(self, layer, x):
        batch, length, width = x.shape
        q, k, v = layer["qkv"](layer["norm"](x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        x = x + layer["out"](F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width))
        normed = layer["norm2"](x)
        return x + layer["down"](F.silu(layer["gate"](normed)) * layer["up"](normed))

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(self.layer, layer, x, use_reentrant=False) if self.checkpointed else self.layer(layer, x)
        return F.cross_entropy(self.head(x).flatten(0, 1).float(), ids.flatten())


def decoder(checkpointed, batch=4, length=1024, width=1024, layers=6, steps=3):
    train(Decoder(width, layers, 16, 16000, checkpointed), lambda _: (torch.randint(16000, (batch, length), device="cuda"),), steps, dtype=torch.bfloat16, loss_of=lambda loss: loss)


@program
def decoder_flash():
    decoder(False)


@program
def decoder_checkpointed():
    decoder(True)


@program
def decoder_accumulated():
    model = Decoder(768, 4, 12, 8000, False).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(12):
        model(torch.randint(8000, (2, 512), device="cuda")).backward()
        if step % 4 == 3:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


@program
def attention_without_flash():
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        decoder(False, batch=2, length=512, width=512, layers=3)


@program
def attention_efficient():
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION):
        decoder(False, batch=2, length=512, width=512, layers=3)


@program
def generation():
    """A cache that grows by torch.cat."""
    model = Decoder(512, 4, 8, 8000, False).cuda().half()
    with torch.no_grad():
        cache = torch.zeros(8, 1, 4, 2, 512, device="cuda", dtype=torch.half)
        for step in range(64):
            model(torch.randint(8000, (8, 32 + step), device="cuda"))
            cache = torch.cat([cache, torch.zeros(8, 1, 4, 2, 512, device="cuda", dtype=torch.half)], 1)


@program
def experts():
    """Tokens go to experts by topk; sizes depend on values, which are the same on each device."""
    width, count = 512, 8
    layers = nn.ModuleList(nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.Linear(2048, width)) for _ in range(count)).cuda()
    optimizer = torch.optim.Adam(layers.parameters())
    for step in range(4):
        x = torch.randn(2048, width, device="cuda")
        of_token = (torch.arange(2048, device="cuda") * (step + 3)) % count
        order = of_token.sort()[1]
        parts = x[order].split(256)
        out = torch.cat([layer(part) for layer, part in zip(layers, parts)])
        torch.zeros_like(x).index_add(0, order, out).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
