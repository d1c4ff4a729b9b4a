"""Reinforcement learning: steps of an environment with a policy, then an update."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
SEEN, ACTIONS, WORLDS, STEPS = 128, 8, 64, 16


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SEEN, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh())
        self.action = nn.Linear(512, ACTIONS)
        self.value = nn.Linear(512, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return torch.distributions.Categorical(logits=self.action(hidden), validate_args=False), self.value(hidden).squeeze(-1)


class Buffer:
    def __init__(self):
        self.steps = []

    def add(self, *step):
        self.steps.append(step)

    def stacked(self):
        return [torch.stack(column) for column in zip(*self.steps, strict=True)]


def explore(policy, buffer):
    seen = torch.zeros(WORLDS, SEEN, device="cuda")
    for _ in range(STEPS):
        with torch.set_grad_enabled(SEEDED == "log_probabilities"):
            choice, value = policy(seen)
            action = choice.sample()
            log_probability = choice.log_prob(action)
        buffer.add(seen, action, log_probability, value)
        seen = seen + 1  # SEEDED: replay


def main():
    policy = Policy().cuda()
    optimizer = torch.optim.Adam(policy.parameters(), foreach=False)
    old = Buffer()
    for _ in range(6):
        buffer = Buffer()
        explore(policy, buffer)
        if SEEDED == "replay":
            old.steps.extend(buffer.steps)
        seen, action, before, value = buffer.stacked()
        advantage = value.detach().flip(0).cumsum(0).flip(0).flatten()
        choice, value = policy(seen.flatten(0, 1))
        ratio = (choice.log_prob(action.flatten()) - before.detach().flatten()).exp()
        loss = -(ratio * advantage).mean() + (value - advantage).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
