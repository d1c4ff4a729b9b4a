"""Reinforcement learning: an episode under no_grad, then three updates from its results."""

import torch
from torch import nn

EPISODES, LENGTH, WORLDS, SEEN, ACTIONS = 8, 10, 32, 32, 6


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.action, self.value = nn.Sequential(nn.Linear(SEEN, 128), nn.Tanh()), nn.Linear(128, ACTIONS), nn.Linear(128, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return torch.distributions.Categorical(logits=self.action(hidden), validate_args=False), self.value(hidden).squeeze(-1)


@torch.no_grad()
def explore(policy):
    seen, episode = torch.zeros(WORLDS, SEEN, device="cuda"), []
    for _ in range(LENGTH):
        choice, value = policy(seen)
        action = choice.sample()
        episode.append((seen, action, choice.log_prob(action), value))
        seen = seen + 1
    return [torch.cat(column) for column in zip(*episode, strict=True)]


policy = Policy().cuda()
optimizer = torch.optim.Adam(policy.parameters())
for _ in range(EPISODES):
    seen, action, before, value = explore(policy)
    for _ in range(3):
        choice, again = policy(seen)
        loss = -((choice.log_prob(action) - before).exp() * value).mean() + (again - value).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
