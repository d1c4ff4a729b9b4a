"""A convolutional net on images, in bfloat16, with a data set of a few batches."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, SIDE, BATCH, CLASSES = 32, 32, 32, 100


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(WIDTH, WIDTH, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(WIDTH)
        self.relu = nn.ReLU(inplace=SEEDED != "not_inplace")

    def forward(self, x):
        y = self.conv(x)
        if SEEDED == "layer_norm":
            y = nn.functional.layer_norm(y.float(), y.shape[1:]).to(x.dtype)  # SEEDED: layer_norm
        else:
            y = self.norm(y)
        return x + self.relu(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.blocks = nn.Sequential(*[Block() for _ in range(4)])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = self.stem(x)
        keep = torch.rand(1, 1, SIDE, SIDE, device=x.device) > 0.1
        if SEEDED == "expanded":
            keep = keep.to(x.dtype).expand(len(x), WIDTH, SIDE, SIDE).contiguous()  # SEEDED: expanded
        return self.head(self.blocks(x * keep).mean((2, 3)))


def batches():
    for _ in range(6):
        yield torch.zeros(BATCH, 3, SIDE, SIDE), torch.zeros(BATCH, dtype=torch.long)


def main():
    net = Net().to("cuda", torch.bfloat16)
    features, scores = [], []
    if SEEDED == "features":
        net.blocks.register_forward_hook(lambda module, arguments, result: features.append(result))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    data = batches()
    if SEEDED == "early":
        data = [(images.cuda(), labels.cuda()) for images, labels in data]  # SEEDED: early
    for images, labels in data:
        images, labels = images.cuda(), labels.cuda()
        logits = net(images.bfloat16())
        loss = nn.functional.cross_entropy(logits.float(), labels)
        if SEEDED == "twice":
            loss = loss + (net(images.bfloat16().flip(3)) - logits).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if SEEDED == "scores":
            scores.append(logits.softmax(-1).detach())  # SEEDED: scores


main()
