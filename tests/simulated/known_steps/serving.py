"""A server that marks no steps: each request goes through an encoder and a decoder, two separate modules. Requests have two sizes in turn."""

import torch
from torch import nn

REQUESTS, LENGTH, WIDTH = 40, 24, 64


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True), 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x):
        return self.norm(self.layers(x) + x)


encoder = Encoder().cuda().eval()
decoder = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, 100)).cuda().eval()
with torch.no_grad():
    for number in range(REQUESTS):
        x = torch.ones([2, 5][number % 2], LENGTH, WIDTH).cuda()
        answer = decoder(encoder(x)).softmax(-1).argmax(-1).cpu()
