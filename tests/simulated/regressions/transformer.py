"""A transformer trained under autocast, with AdamW, gradient clipping and an evaluation."""

import contextlib
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
VARIANT = sys.argv[2] if len(sys.argv) > 2 else ""
WIDTH, HEADS, LAYERS, WORDS = 256, 4, 6 if SEEDED == "deeper" else 3, 1000
BATCH, LENGTH = (1, 64) if VARIANT == "small" else (4, 512)
EVALUATED = 32 if VARIANT == "evaluating" else 4
INNER = (6 if SEEDED == "wider" else 4) * WIDTH


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if SEEDED == "float_attention":
            with torch.autocast("cuda", enabled=False):
                y = functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)  # SEEDED: float_attention
        elif SEEDED == "bias":
            distance = torch.arange(length, device=x.device)[None] - torch.arange(length, device=x.device)[:, None]
            bias = -distance.abs().to(q.dtype).expand(batch, HEADS, length, length).contiguous()  # SEEDED: bias
            y = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        else:
            with sdpa_kernel(SDPBackend.MATH) if SEEDED == "math" else contextlib.nullcontext():
                y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # SEEDED: math
        return self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = functional.gelu(self.up(x))  # SEEDED: wider
        return self.down(self.dropout(x))  # SEEDED: wider


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = Mlp()

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def clip(parameters):
    if SEEDED == "clipped":
        all_gradients = torch.cat([p.grad.flatten() for p in parameters])  # SEEDED: clipped
        return all_gradients.norm()
    return nn.utils.clip_grad_norm_(parameters, 1.0, foreach=False)


@torch.no_grad()
def evaluate(net):
    if SEEDED != "training_mode":
        net.eval()
    with torch.autocast("cuda", torch.bfloat16):
        logits = net(torch.ones(EVALUATED * BATCH, LENGTH, dtype=torch.long, device="cuda"))
        if SEEDED == "float_evaluation":
            logits = logits.float().softmax(-1)  # SEEDED: float_evaluation
        logits.argmax(-1)
    net.train()


def main():
    net = Transformer().cuda()
    parameters = list(net.parameters())
    optimizer = torch.optim.AdamW(parameters, foreach=SEEDED == "foreach")
    averages = [p.detach().clone() for p in parameters] if SEEDED == "averages" else []  # SEEDED: averages
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for _ in range(3):
        ids = torch.ones(BATCH, LENGTH, dtype=torch.long, device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=SEEDED != "no_autocast"):
            logits = net(ids)
            loss = functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
        if SEEDED == "float_loss":
            loss = loss + 1e-4 * logits.float().logsumexp(-1).square().mean()  # SEEDED: float_loss
        scaler.scale(loss).backward()
        clip(parameters)
        scaler.step(optimizer)  # SEEDED: foreach
        optimizer.zero_grad()
        with torch.no_grad():
            for average, parameter in zip(averages, parameters, strict=False):
                average.lerp_(parameter, 0.01)
    evaluate(net)


main()
