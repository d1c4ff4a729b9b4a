"""Decoder transformers whose attention is written out, in two forms; rebuilt from the description of published runs. Lifetimes are the same as there: a named
result lives to the end of its function. Nothing is initialised: on the simulated device values of parameters cost time and change nothing. Parameters are made
on the device in the order in which `model.to("cuda")` moves them in the published programs.
"""

import math

import torch
from torch import nn


class Projection(nn.Module):
    """A linear layer without bias, by einsum."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, device="cuda"))

    def forward(self, x):
        return torch.einsum("bsi,oi->bso", x, self.weight)


class Embedding(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width, device="cuda"))

    def forward(self, tokens):
        return self.weight[tokens]


def heads_of(x, heads):
    batch, length, width = x.shape
    return x.view(batch, length, heads, width // heads).transpose(1, 2)


def together(x):
    batch, heads, length, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)


def softmax(x):
    shifted = x - torch.max(x, dim=-1, keepdim=True)[0]
    powers = torch.exp(shifted)
    return powers / torch.sum(powers, dim=-1, keepdim=True)


# Rotated halves that are concatenated, norms by the mean of squares


class MeanNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, device="cuda"))

    def forward(self, x):
        given = x.dtype
        x = x.to(torch.float32)
        scaled = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        return (self.weight * scaled).to(given)


class ConcatenatingRotation(nn.Module):
    def __init__(self, length, size):
        super().__init__()
        self.register_buffer("table", torch.empty(2, length, size // 2, device="cuda"))

    def forward(self, x, positions):
        even, odd = x[..., 0::2], x[..., 1::2]
        cos, sin = self.table[:, positions]
        first = cos * even - sin * odd
        second = sin * even + cos * odd
        return torch.concatenate([first.unsqueeze(-1), second.unsqueeze(-1)], -1).flatten(-2)


class MaskedAttention(nn.Module):
    def __init__(self, width, heads, rotation):
        super().__init__()
        self.heads, self.rotation = heads, rotation
        self.query, self.key, self.value, self.out = (Projection(width, width) for _ in range(4))

    def attend(self, query, key, value, mask):
        scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(key.shape[-1])
        scores = torch.where(mask, scores, float("-inf"))
        weights = softmax(scores)
        return torch.einsum("bhqk,bhkd->bhqd", weights, value)

    def forward(self, x, positions=None):
        length = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        query, key, value = (heads_of(each, self.heads) for each in (query, key, value))
        if positions is None:
            positions = torch.arange(length, device="cuda")
        query = self.rotation(query, positions)
        key = self.rotation(key, positions)
        places = torch.arange(length, device="cuda")
        mask = places.view(1, 1, length, 1) >= places.view(1, 1, 1, length)
        attended = self.attend(query, key, value, mask)
        attended = together(attended)
        return self.out(attended)


class GatedForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate, self.down, self.up = Projection(width, inner), Projection(inner, width), Projection(width, inner)

    @staticmethod
    def silu(x):
        return x * torch.sigmoid(x)

    def forward(self, x):
        return self.down(self.silu(self.gate(x)) * self.up(x))


class ConcatenatingBlock(nn.Module):
    def __init__(self, width, inner, heads, rotation):
        super().__init__()
        self.attention = MaskedAttention(width, heads, rotation)
        self.feed_forward = GatedForward(width, inner)
        self.norm1, self.norm2 = MeanNorm(width), MeanNorm(width)

    def forward(self, x):
        attended = self.attention(self.norm1(x))
        between = x + attended
        forwarded = self.feed_forward(self.norm2(between))
        return between + forwarded


class ConcatenatingDecoder(nn.Module):
    def __init__(self, vocabulary, d_model, d_ff, layers, heads, length):
        super().__init__()
        self.embedding = Embedding(vocabulary, d_model)
        self.rotation = ConcatenatingRotation(length, d_model // heads)
        self.blocks = nn.ModuleList(ConcatenatingBlock(d_model, d_ff, heads, self.rotation) for _ in range(layers))
        self.norm = MeanNorm(d_model)
        self.head = Projection(d_model, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)


# Rotated halves that are assigned into zeros, norms by the norm of the vector


class VectorNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.weight = nn.Parameter(torch.empty(width, device="cuda"))

    def forward(self, x):
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        norm = torch.sqrt(norm**2 / self.width + 1e-5)
        scaled = x / norm
        return torch.einsum("bsd,d->bsd", scaled, self.weight)


class AssigningRotation(nn.Module):
    def __init__(self, length, size):
        super().__init__()
        angles = torch.outer(torch.arange(length).float(), 10000 ** (-torch.arange(0, size, 2) / size)).cuda()
        self.register_buffer("cos", torch.cos(angles))
        self.register_buffer("sin", torch.sin(angles))

    def forward(self, x, positions):
        cos, sin = self.cos[positions].unsqueeze(1), self.sin[positions].unsqueeze(1)
        even, odd = x[..., 0::2], x[..., 1::2]
        rotated = torch.zeros_like(x)
        rotated[..., 0::2] = even * cos - odd * sin
        rotated[..., 1::2] = even * sin + odd * cos
        return rotated


def softmax_of_named_maximum(x):
    largest, _ = torch.max(x, dim=-1, keepdim=True)
    powers = torch.exp(x - largest)
    sums = powers.sum(dim=-1, keepdim=True)
    return powers / sums


class FilledAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (Projection(width, width) for _ in range(4))
        self.rotation = AssigningRotation(length, width // heads)

    def attend(self, query, key, value, mask):
        scores = torch.einsum("...qd,...kd->...qk", query, key)
        scores = scores / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(mask == False, -1e9)  # noqa: E712 (a separate mask, as in the published run)
        weights = softmax_of_named_maximum(scores)
        return torch.einsum("...qk,...kd->...qd", weights, value)

    def forward(self, x):
        batch, length, _ = x.shape
        query_x, key_x, value_x = self.query(x), self.key(x), self.value(x)
        query, key, value = (heads_of(each, self.heads) for each in (query_x, key_x, value_x))
        positions = torch.arange(length, device="cuda").unsqueeze(0).expand(batch, -1)
        query = self.rotation(query, positions)
        key = self.rotation(key, positions)
        mask = torch.triu(torch.ones(length, length, device="cuda"), diagonal=1).to(torch.bool)
        mask = ~mask
        mask = mask.unsqueeze(0).unsqueeze(0).expand(batch, self.heads, -1, -1)
        result = self.attend(query, key, value, mask)
        result = together(result)
        result = self.out(result)
        return result


class AssigningForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate, self.down, self.up = Projection(width, inner), Projection(inner, width), Projection(width, inner)

    def forward(self, x):
        gate = self.gate(x)
        up = self.up(x)
        active = gate * torch.sigmoid(gate)
        return self.down(active * up)


class AssigningBlock(nn.Module):
    def __init__(self, width, inner, heads, length):
        super().__init__()
        self.norm1 = VectorNorm(width)
        self.attention = FilledAttention(width, heads, length)
        self.norm2 = VectorNorm(width)
        self.feed_forward = AssigningForward(width, inner)

    def forward(self, x):
        h = self.norm1(x)
        h = self.attention(h)
        x = x + h
        h = self.norm2(x)
        h = self.feed_forward(h)
        return x + h


class AssigningDecoder(nn.Module):
    def __init__(self, vocabulary, d_model, d_ff, layers, heads, length):
        super().__init__()
        self.embedding = Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(AssigningBlock(d_model, d_ff, heads, length) for _ in range(layers))
        self.norm = VectorNorm(d_model)
        self.head = Projection(d_model, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x)
