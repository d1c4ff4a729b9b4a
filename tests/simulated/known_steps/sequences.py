"""An LSTM over sequences of three lengths in turn, and one sequence of another length."""

import torch
from torch import nn

LENGTHS = [24, 40, 32]
ONCE, STEPS = {16: 56}, 24


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.tags = nn.Embedding(500, 64), nn.LSTM(64, 64, 2, batch_first=True, dropout=0.1), nn.Linear(64, 20)

    def forward(self, ids):
        return self.tags(self.lstm(self.words(ids))[0])


model = Tagger().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(STEPS):
    ids = torch.ones(8, ONCE.get(step, LENGTHS[step % 3]), dtype=torch.long, device="cuda")
    optimizer.zero_grad()
    model(ids).square().mean().backward()
    optimizer.step()
