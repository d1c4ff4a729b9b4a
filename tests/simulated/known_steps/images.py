"""A convolutional net with momentum, which is evaluated after every fifth batch."""

import torch
from torch import nn

STEPS, BATCH = 18, 8


def block(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU(), nn.MaxPool2d(2))


model = nn.Sequential(block(3, 16), block(16, 32), nn.Flatten(), nn.Linear(32 * 8 * 8, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(STEPS):
    images, labels = torch.zeros(BATCH, 3, 32, 32).cuda(), torch.zeros(BATCH, dtype=torch.long).cuda()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    if step % 5 == 4:
        model.eval()
        with torch.no_grad():
            scores = [model(torch.zeros(2 * BATCH, 3, 32, 32, device="cuda")).argmax(1) for _ in range(2)]
        model.train()
