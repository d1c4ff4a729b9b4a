"""A decoder that answers prompts of two lengths word by word, with a cache that grows; a step is a prompt, or with "unmarked" a word."""

import sys

import memoir
import torch
from torch import nn

PROMPTS, NEW, WIDTH, HEADS, WORDS = 14, 8, 64, 4, 500


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if cache:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        cache[:] = k, v
        return self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1).transpose(1, 2).reshape(batch, length, WIDTH))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.attentions = nn.ModuleList(Attention() for _ in range(2))
        self.mlps = nn.ModuleList(nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(2))

    def forward(self, ids, caches):
        x = self.words(ids)
        for attention, mlp, cache in zip(self.attentions, self.mlps, caches, strict=True):
            x = x + attention(x, cache)
            x = x + mlp(x)
        return self.head(x[:, -1:]).float()


@torch.inference_mode()
def answer(model, ids):
    caches = [[], []]
    for _ in range(NEW):
        ids = model(ids, caches)[:, -1].argmax(-1, keepdim=True)


model = Decoder().to("cuda", torch.bfloat16).eval()
for number in range(PROMPTS):
    if sys.argv[1:] != ["unmarked"]:
        memoir.step(number)
    answer(model, torch.ones(4, [48, 80][number % 2], dtype=torch.long, device="cuda"))
