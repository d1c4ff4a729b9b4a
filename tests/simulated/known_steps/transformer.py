"""A small transformer in bfloat16, with AdamW; marks its steps by memoir.step()."""

import memoir
import torch
from torch import nn

STEPS, BATCH, LENGTH, WIDTH, WORDS = 14, 8, 32, 128, 500


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
        self.words, self.layers, self.head = nn.Embedding(WORDS, WIDTH), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        return self.head(self.layers(self.words(ids)))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
losses = []
for step in range(STEPS):
    memoir.step(step)
    ids = torch.ones(BATCH, LENGTH, dtype=torch.long).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
