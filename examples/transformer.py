"""Trains a small language model on made-up text: a decoder-only transformer, AdamW, ten steps.

An ordinary training script. It knows nothing of Memoir; `memoir run -- python examples/transformer.py` records it.
"""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS = 2000, 128, 256, 4, 4
BATCH, STEPS = 8, 10


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project_in = nn.Linear(WIDTH, 3 * WIDTH)
        self.project_out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        query, key, value = self.project_in(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.project_out(attended.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.feed_forward_norm = nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def counting_text():
    """Sequences that count upwards from a random number in random strides: easy to learn, nothing to download."""
    start = torch.randint(VOCABULARY, (BATCH, 1))
    stride = torch.randint(1, 5, (BATCH, 1))
    text = (start + stride * torch.arange(LENGTH + 1)) % VOCABULARY
    return text[:, :-1], text[:, 1:]


def main():
    torch.manual_seed(0)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, batch {BATCH} x {LENGTH} tokens", flush=True)
    for step in range(STEPS):
        tokens, targets = counting_text()
        loss = functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
