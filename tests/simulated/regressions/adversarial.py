"""A generator and a discriminator, one after another."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
NOISE, BATCH = 64, 32


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(NOISE, 64 * 8 * 8)
        self.up = nn.Sequential(nn.ConvTranspose2d(64, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU())
        self.image = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, z):
        return self.image(self.up(self.start(z).view(-1, 64, 8, 8))).tanh()


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 128, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(128, 64, 4, 2, 1), nn.LeakyReLU(0.2))
        self.score = nn.Linear(64 * 8 * 8, 1)

    def forward(self, x):
        return self.score(self.down(x).flatten(1))


def penalty_of(discriminator, real, fake):
    between = (0.5 * real + 0.5 * fake).requires_grad_()
    (slope,) = torch.autograd.grad(discriminator(between).sum(), between, create_graph=True)
    return (slope.flatten(1).norm(dim=1) - 1).square().mean()


def main():
    generator, discriminator = Generator().cuda(), Discriminator().cuda()
    of_generator = torch.optim.Adam(generator.parameters(), foreach=False)
    of_discriminator = torch.optim.Adam(discriminator.parameters(), foreach=False)
    for _ in range(3):
        real = torch.zeros(4 * BATCH, 3, 32, 32, device="cuda")
        fake = generator(torch.randn(4 * BATCH, NOISE, device="cuda"))
        if SEEDED != "not_detached":
            fake = fake.detach()
        loss = discriminator(fake).mean() - discriminator(real).mean()
        if SEEDED == "penalty":
            loss = loss + penalty_of(discriminator, real, fake)
        of_discriminator.zero_grad()
        loss.backward()
        of_discriminator.step()
        of_generator.zero_grad()
        (-discriminator(generator(torch.randn(BATCH, NOISE, device="cuda"))).mean()).backward()
        of_generator.step()


main()
