"""A decoder that generates word by word, with a cache that grows."""

import sys

import torch
from torch import nn
from torch.nn import functional

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, HEADS, LAYERS, WORDS = 256, 4, 3, 8000
BATCH, PROMPT, NEW = 8, 1024 if SEEDED == "long_prompt" else 128, 24


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.keys = self.values = None

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if SEEDED == "static_cache":
            if self.keys is None:
                self.keys = torch.zeros(batch, HEADS, 4096, WIDTH // HEADS, device=x.device, dtype=x.dtype)  # SEEDED: static_cache
                self.values = torch.zeros_like(self.keys)  # SEEDED: static_cache
                self.length = 0
            self.keys[:, :, self.length : self.length + length] = k
            self.values[:, :, self.length : self.length + length] = v
            self.length += length
            k, v = self.keys[:, :, : self.length], self.values[:, :, : self.length]
        elif self.keys is not None:
            k = torch.cat([self.keys, k], 2)  # SEEDED: kept_caches
            v = torch.cat([self.values, v], 2)  # SEEDED: kept_caches
        if SEEDED != "static_cache":
            self.keys, self.values = k, v
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        if SEEDED == "all_logits":
            return self.head(x).float()  # SEEDED: all_logits
        return self.head(x[:, -1:]).float()


@torch.inference_mode()
def generate(net, ids):
    history = []
    for _ in range(NEW):
        logits = net(ids)[:, -1]
        if SEEDED == "kept_caches":
            history.append([(layer.attention.keys, layer.attention.values) for layer in net.layers])
        if SEEDED == "probabilities":
            history.append(logits.softmax(-1))  # SEEDED: probabilities
        ids = logits.argmax(-1, keepdim=True)


def main():
    net = Decoder().to("cuda", torch.bfloat16).eval()
    generate(net, torch.ones(BATCH, PROMPT, dtype=torch.long, device="cuda"))


main()
