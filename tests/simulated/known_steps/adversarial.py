"""A GAN: two models and two optimizers, one after the other."""

import torch
from torch import nn

STEPS, BATCH, NOISE = 12, 16, 32

generator = nn.Sequential(
    nn.Linear(NOISE, 32 * 8 * 8), nn.Unflatten(1, (32, 8, 8)), nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()
).cuda()
discriminator = nn.Sequential(
    nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32 * 8 * 8, 1)
).cuda()
of_generator, of_discriminator = torch.optim.Adam(generator.parameters()), torch.optim.Adam(discriminator.parameters())
for _ in range(STEPS):
    real, noise = torch.zeros(BATCH, 3, 32, 32, device="cuda"), torch.randn(BATCH, NOISE, device="cuda")
    fake = generator(noise)
    of_discriminator.zero_grad()
    (discriminator(fake.detach()).mean() - discriminator(real).mean()).backward()
    of_discriminator.step()
    of_generator.zero_grad()
    (-discriminator(fake).mean()).backward()
    of_generator.step()
