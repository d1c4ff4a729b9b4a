"""Programs that keep more in every step, and healthy ones that look as if they did: a step of each of them in every step of one process.

    python leak_programs.py [--device cuda] [--gc-off]

A line that leaks ends with "# LEAK: name", so that a test knows it.
"""

import argparse
import functools
import gc

import memoir
import torch
from torch import nn

STEPS = 48
SIDE = 256  # 256 KiB a tensor of floats


class Leaks:
    """A method for each way to keep more and more."""

    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(SIDE, SIDE, device=device)
        self.losses, self.closures, self.hooked, self.graphs, self.errors, self.staged = [], [], [], [], [], []
        self.cache, self.keys = {}, torch.zeros(1, SIDE, device=device)
        self.layers = nn.ModuleList()
        self.hooked_model = nn.Linear(SIDE, SIDE, device=device)
        self.hooked_model.register_forward_hook(lambda module, arguments, result: self.hooked.append(result.detach().clone()))  # LEAK: hook

    def loss_with_graph(self, step):
        x = torch.zeros(SIDE, SIDE, device=self.device)
        self.losses.append((self.model(x).relu() ** 2).sum())  # LEAK: loss_with_graph

    def closure(self, step):
        seen = torch.zeros(SIDE, SIDE, device=self.device)  # LEAK: closure
        self.closures.append(lambda: seen)

    def hook(self, step):
        with torch.no_grad():
            self.hooked_model(torch.zeros(SIDE, SIDE, device=self.device))

    def retained_graph(self, step):
        loss = (self.model(torch.zeros(SIDE, SIDE, device=self.device)).exp() * 2).sum()  # LEAK: retained_graph
        loss.backward(retain_graph=True)
        self.model.zero_grad()
        self.graphs.append(loss)

    def cache_by_shape(self, step):
        shape = (SIDE + step, SIDE)
        if shape not in self.cache:
            self.cache[shape] = torch.ones(shape, device=self.device)  # LEAK: cache_by_shape

    def key_value_cache(self, step):
        self.keys = torch.cat([self.keys, torch.zeros(SIDE, SIDE, device=self.device)])  # LEAK: key_value_cache

    def module_list(self, step):
        self.layers.append(nn.Linear(SIDE, SIDE, bias=False, device=self.device))  # LEAK: module_list

    @functools.cache  # noqa: B019 the mistake that is meant
    def positions(self, step):
        return torch.ones(SIDE, SIDE, device=self.device)  # LEAK: lru_cache

    def lru_cache(self, step):
        self.positions(step)

    def traceback(self, step):
        try:
            local = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: traceback
            raise ValueError(local.shape)
        except ValueError as error:
            self.errors.append(error)

    def every_fifth(self, step):
        if step % 5 == 0:
            self.staged.append(torch.ones(5 * SIDE, SIDE, device=self.device))  # LEAK: every_fifth

    def pinned(self, step):
        if self.device != "cpu":
            self.staged.append(torch.zeros(SIDE, SIDE).pin_memory())  # LEAK: pinned

    def gc_off(self, step):
        if not gc.isenabled():
            node = {"tensor": torch.ones(SIDE, SIDE, device=self.device)}  # LEAK: gc_off
            node["self"] = node


class Healthy:
    """A method for each thing that keeps something for a while."""

    def __init__(self, device):
        self.device = device
        self.model = nn.Sequential(nn.Linear(SIDE, SIDE, device=device), nn.ReLU(), nn.Linear(SIDE, SIDE, device=device))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.warm, self.cache, self.queue, self.history = [], {}, [], []
        self.average = torch.zeros(SIDE, SIDE, device=device)

    def warm_up(self, step):
        if step < 6:
            self.warm.append(torch.zeros(SIDE, SIDE, device=self.device))

    def training_with_accumulation(self, step):
        length = SIDE + 37 * step % 101
        loss = self.model(torch.zeros(length, SIDE, device=self.device)).square().mean()
        loss.backward()
        if step % 4 == 3:
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.history.append(loss.item())

    def cache_that_fills(self, step):
        shape = (SIDE + step % 20, SIDE)
        if shape not in self.cache:
            self.cache[shape] = torch.zeros(shape, device=self.device)

    def cycles(self, step):
        node = {"tensor": torch.zeros(SIDE, SIDE, device=self.device)}
        node["self"] = node
        if step % 7 == 6 and gc.isenabled():
            gc.collect()
        elif not gc.isenabled():
            del node["self"]

    def evaluation(self, step):
        if step % 5:
            return
        with torch.no_grad():
            self.scores = [self.model(torch.zeros(SIDE + step, SIDE, device=self.device)) for _ in range(3)]

    def prefetch(self, step):
        self.queue.append(torch.zeros(SIDE, SIDE, device=self.device))
        if len(self.queue) > 8:
            self.queue.pop(0)

    def moving_average(self, step):
        self.average = self.average * 0.9 + torch.zeros(SIDE, SIDE, device=self.device)

    def list_for_each_epoch(self, step):
        if step % 10 == 0:
            self.epoch = []
        self.epoch.append(torch.zeros(SIDE, SIDE, device=self.device))

    def variable_lengths(self, step):
        self.batch = torch.cat([torch.zeros(SIDE, SIDE, device=self.device)] * (1 + step * 7 % 5))


def methods(thing):
    return [getattr(thing, name) for name, value in vars(type(thing)).items() if callable(value) and not name.startswith("_") and name != "positions"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gc-off", action="store_true")
    parser.add_argument("--healthy", action="store_true")
    arguments = parser.parse_args()
    if arguments.gc_off:
        gc.disable()
    calls = methods(Healthy(arguments.device))
    if not arguments.healthy:
        calls += methods(Leaks(arguments.device))
    for step in range(STEPS):
        memoir.step(step)
        for call in calls:
            call(step)


if __name__ == "__main__":
    main()
