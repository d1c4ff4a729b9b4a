"""Convolutional nets: residual, U-shaped, adversarial, of volumes; in each precision and order."""

import torch
import torch.nn.functional as F
from torch import nn

from registry import images, program, train


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True), nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
                                  nn.BatchNorm2d(outer))
        self.short = nn.Sequential() if stride == 1 and inner == outer else nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return F.relu(self.main(x) + self.short(x), inplace=True)


def residual():
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1), Residual(64, 64, 1), Residual(64, 128, 2),
                         Residual(128, 256, 2), Residual(256, 512, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def momentum(parameters, lr):
    return torch.optim.SGD(parameters, lr=lr, momentum=0.9, weight_decay=1e-4)


@program
def residual_fp32():
    train(residual(), images(224), optimizer=momentum)


@program
def residual_bf16_channels_last():
    train(residual().to(memory_format=torch.channels_last), lambda _: (torch.randn(32, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last),), optimizer=momentum,
          dtype=torch.bfloat16)


@program
def residual_fp16_benchmark():
    torch.backends.cudnn.benchmark = True
    train(residual(), images(224, 32), optimizer=momentum, dtype=torch.float16)


class Unet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        def block(inner, outer):
            return nn.Sequential(nn.Conv2d(inner, outer, 3, padding=1), nn.GroupNorm(8, outer), nn.SiLU(), nn.Conv2d(outer, outer, 3, padding=1), nn.GroupNorm(8, outer), nn.SiLU())
        self.first, self.second, self.third = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.up2, self.up1, self.out = block(6 * width, 2 * width), block(3 * width, width), nn.Conv2d(width, 3, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(F.avg_pool2d(a, 2))
        c = self.third(F.avg_pool2d(b, 2))
        b = self.up2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        return self.out(self.up1(torch.cat([F.interpolate(b, scale_factor=2.0, mode="bilinear"), a], 1)))


@program
def unet():
    train(Unet(), images(128, 8))


@program
def unet_bf16():
    train(Unet(), images(128, 8), dtype=torch.bfloat16)


@program
def adversarial():
    generator = nn.Sequential(nn.ConvTranspose2d(64, 256, 4), nn.BatchNorm2d(256), nn.ReLU(), nn.ConvTranspose2d(256, 128, 4, 2, 1), nn.BatchNorm2d(128), nn.ReLU(),
                              nn.ConvTranspose2d(128, 3, 4, 2, 1), nn.Tanh()).cuda()
    critic = nn.Sequential(nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(64, 128, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(2048, 1)).cuda()
    both = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
    for _ in range(4):
        fake = generator(torch.randn(64, 64, 1, 1, device="cuda"))
        critic_loss = F.softplus(critic(fake.detach())).mean() + F.softplus(-critic(torch.randn(64, 3, 16, 16, device="cuda"))).mean()
        for optimizer, loss in zip(both[::-1], (critic_loss, None)):
            loss = F.softplus(-critic(fake)).mean() if loss is None else loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@program
def volumes():
    train(nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.InstanceNorm3d(16), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(16, 32, 3, padding=1), nn.ReLU()),
          lambda _: (torch.randn(2, 1, 48, 48, 48, device="cuda"),))
