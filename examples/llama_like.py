"""Trains a decoder-only transformer in the shape of Llama on random tokens: llama_like.py --width 4096 --layers 32 --batch 1

An ordinary training script in plain torch, for CUDA: weights in bfloat16, AdamW. The defaults are about 110 million parameters;
--width 4096 --hidden 11008 --layers 32 --vocabulary 32000 are 6.7 billion. It knows nothing of Memoir.
"""

import argparse

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width, bias=False)
        self.project_out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = self.project_in(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.project_out(attended.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, hidden, heads):
        super().__init__()
        self.attention_norm = nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.feed_forward_norm = nn.RMSNorm(width)
        self.feed_forward = FeedForward(width, hidden)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class LanguageModel(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.recompute = options.recompute
        self.token = nn.Embedding(options.vocabulary, options.width)
        self.blocks = nn.ModuleList(Block(options.width, options.hidden, options.heads) for _ in range(options.layers))
        self.norm = nn.RMSNorm(options.width)
        self.head = nn.Linear(options.width, options.vocabulary, bias=False)

    def forward(self, tokens):
        x = self.token(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return self.head(self.norm(x))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=0, help="default: one for each 64 of the width, 128 from 2,048 on")
    parser.add_argument("--vocabulary", type=int, default=16000)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--recompute", action="store_true", help="keep the input of each block alone, and compute the rest again")
    options = parser.parse_args()
    options.heads = options.heads or options.width // (128 if options.width >= 2048 else 64)
    return options


def train(options):
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = LanguageModel(options)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(options.steps):
        tokens = torch.randint(options.vocabulary, (options.batch, options.length + 1), device="cuda")
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million parameters, {options.steps} steps")


if __name__ == "__main__":
    train(parse())
