"""A server that answers requests, with a snapshot after ten of them."""

import sys

import memoir
import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""


class Server:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
        self.answers = {}

    def answer(self, number):
        with torch.set_grad_enabled(SEEDED == "with_gradients"):
            result = self.net(torch.zeros(64, 512, device="cuda"))
        if SEEDED == "sessions":
            self.answers[number] = result.clone()  # SEEDED: sessions
        else:
            self.answers["last", number % 2] = result


def main():
    server = Server()
    for number in range(10):
        server.answer(number)
    memoir.snapshot()


main()
