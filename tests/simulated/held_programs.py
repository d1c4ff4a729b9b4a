"""More ways to keep more in every step than in leak_programs.py, and more healthy programs: all in one process.

    python held_programs.py [--device cuda] [--gc-off] [--healthy] [--steps 48]

A line that leaks ends with "# LEAK: ..., by ...": where the tensors are held. leak_programs.py has it in HELD_BY of its names.
"""

import argparse
import asyncio
import collections
import concurrent.futures
import copy
import functools
import gc
import io
import logging.handlers
import queue
import threading
import weakref

import leak_programs
import memoir
import torch
from leak_programs import SIDE, methods
from torch import nn

# Of leak_programs.py.
HELD_BY = {
    "hook": "leaks.hooked[…]", "loss_with_graph": "leaks.losses[…]", "closure": "leaks.closures[…].seen", "retained_graph": "leaks.graphs[…]",
    "cache_by_shape": "leaks.cache[…]", "key_value_cache": "leaks.keys", "module_list": "leaks.layers[…].weight", "lru_cache": "Leaks.positions[…]",
    "traceback": "leaks.errors[…]: local", "every_fifth": "leaks.staged[…]", "pinned": "leaks.staged[…]", "gc_off": "dict['tensor']"
}

seen_by_all = []


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.scale = torch.ones(SIDE, SIDE, device=x.device)  # LEAK: context by more.scaled[…]
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.scale


class Slotted:
    __slots__ = ("batch",)


class Node:
    def __init__(self, value, before):
        self.value, self.before = value, before


class Reader:
    def __init__(self, batch):
        self.batch = batch

    def read(self):
        return self.batch


class Registry:
    entries = []  # noqa: RUF012 the mistake that is meant


def with_default(tensor, kept=[]):  # noqa: B006 the mistake that is meant
    kept.append(tensor)


def reader_of(device):
    read = []
    while True:
        read.append(torch.ones(SIDE, SIDE, device=device))  # LEAK: generator by more.reads: read[…]
        yield


async def waits_for_ever(device):
    batch = torch.ones(SIDE, SIDE, device=device)  # LEAK: coroutine by more.tasks[…]: batch
    await asyncio.get_running_loop().create_future()
    return batch


class More:
    """A method for each way to keep more and more."""

    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(SIDE, SIDE, device=device)
        self.total = torch.zeros((), device=device)
        self.scaled, self.recent, self.views, self.slotted, self.callbacks, self.partials = [], collections.deque(), [], [], [], []
        self.metrics, self.unique, self.saved, self.arrays, self.futures, self.tasks, self.chained = {}, set(), [], [], [], [], []
        self.node = None
        self.reads = reader_of(device)
        self.work = queue.Queue()
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.buffers = nn.Module()
        self.optimizer = torch.optim.SGD(nn.Linear(SIDE, 1, device=device).parameters(), lr=0.1)
        self.log = logging.handlers.MemoryHandler(10**6)
        self.orders, self.answers = queue.Queue(), queue.Queue()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        kept_by_thread = []
        while True:
            self.orders.get()
            kept_by_thread.append(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: thread by kept_by_thread[…]
            self.answers.put(True)

    def total_of_losses(self, step):
        loss = (self.model(torch.ones(SIDE, SIDE, device=self.device)) ** 2).mean()  # LEAK: total_of_losses by more.total
        self.total = self.total + loss

    def context(self, step):
        self.scaled.append(Scaled.apply(torch.ones(4, device=self.device, requires_grad=True)))

    def generator(self, step):
        next(self.reads)

    def class_attribute(self, step):
        Registry.entries.append(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: class_attribute by Registry.entries[…]

    def global_list(self, step):
        seen_by_all.append(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: global_list by seen_by_all[…]

    def default_argument(self, step):
        with_default(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: default_argument by with_default[…][…]

    def deque(self, step):
        self.recent.append(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: deque by more.recent[…]

    def dict_of_metrics(self, step):
        self.metrics[f"loss at {step}"] = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: dict_of_metrics by more.metrics[…]

    def set_of_tensors(self, step):
        self.unique.add(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: set_of_tensors by more.unique[…]

    def view_of_large(self, step):
        self.views.append(torch.ones(SIDE, SIDE, device=self.device)[:1])  # LEAK: view_of_large by more.views[…]

    def slotted_object(self, step):
        thing = Slotted()
        thing.batch = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: slotted_object by more.slotted[…].batch
        self.slotted.append(thing)

    def linked_list(self, step):
        self.node = Node(torch.ones(SIDE, SIDE, device=self.device), self.node)  # LEAK: linked_list by more.node.

    def bound_method(self, step):
        self.callbacks.append(Reader(torch.ones(SIDE, SIDE, device=self.device)).read)  # LEAK: bound_method by more.callbacks[…].batch

    def partial(self, step):
        self.partials.append(functools.partial(id, torch.ones(SIDE, SIDE, device=self.device)))  # LEAK: partial by more.partials[…][…]

    def queue(self, step):
        self.work.put(torch.ones(SIDE, SIDE, device=self.device))  # LEAK: queue by more.work.queue[…]

    def thread(self, step):
        self.orders.put(step)
        self.answers.get()

    def tensor_hook(self, step):
        x = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: tensor_hook by more.model.weight._backward_hooks[…].x
        self.model.weight.register_hook(lambda gradient: gradient + x.sum())

    def forward_hook(self, step):
        x = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: forward_hook by more.buffers._forward_hooks[…].x
        self.buffers.register_forward_hook(lambda module, arguments, result: x)

    def buffer(self, step):
        self.buffers.register_buffer(f"past_{step}", torch.ones(SIDE, SIDE, device=self.device))  # LEAK: buffer by more.buffers.past_

    def parameter_group(self, step):
        self.optimizer.add_param_group({"params": [nn.Parameter(torch.ones(SIDE, SIDE, device=self.device))]})  # LEAK: parameter_group by more.optimizer.param_groups[…]['params'][…]

    def finalizer(self, step):
        weakref.finalize(self.model, id, torch.ones(SIDE, SIDE, device=self.device))  # LEAK: finalizer by finalize._registry[…].args[…]

    def log_record(self, step):
        x = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: log_record by more.log.buffer[…].args
        self.log.emit(logging.LogRecord("held", logging.INFO, __file__, 1, "%s", (x,), None))

    def future(self, step):
        self.futures.append(self.pool.submit(lambda: torch.ones(SIDE, SIDE, device=self.device)))  # LEAK: future by more.futures[…]._result
        self.futures[-1].result()

    def coroutine(self, step):
        loop = asyncio.new_event_loop()
        task = loop.create_task(waits_for_ever(self.device))
        loop.call_soon(loop.stop)
        loop.run_forever()
        self.tasks.append(task.get_coro())
        loop.close()

    def saved_weights(self, step):
        self.saved.append({name: value.detach().clone() for name, value in self.model.state_dict().items()})  # LEAK: saved_weights by more.saved[…]['weight']

    def chained_error(self, step):
        try:
            try:
                inner = torch.ones(SIDE, SIDE, device=self.device)  # LEAK: chained_error by more.chained[…]
                raise KeyError(inner.shape)
            finally:
                raise ValueError("another")
        except ValueError as error:
            self.chained.append(error)

    def numpy_array(self, step):
        if self.device == "cpu":
            self.arrays.append(torch.ones(SIDE, SIDE).numpy())  # LEAK: numpy_array by more.arrays[…]


class Sound:
    """A method for each thing that keeps something for a while, or always the same amount."""

    def __init__(self, device):
        self.device = device
        self.model = nn.Linear(SIDE, SIDE, device=device)
        self.shadow = copy.deepcopy(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4)
        self.ring, self.replay, self.micro, self.best = collections.deque(maxlen=6), [], [], None
        self.keys, self.by_shape, self.weak, self.flags = [], {}, weakref.WeakValueDictionary(), []
        self.prefetched = queue.Queue(3)
        self.window = torch.zeros(8, SIDE, SIDE, device=device)
        self.reused, self.image, self.results, self.pending = None, b"", [], []

    def _tensor(self, rows=SIDE):
        return torch.ones(rows, SIDE, device=self.device)

    def ring_buffer(self, step):
        self.ring.append(self._tensor())

    def replay_buffer(self, step):
        if len(self.replay) < 12:
            self.replay.append(self._tensor())
        else:
            self.replay[step * 5 % 12] = self._tensor()

    @functools.lru_cache(8)  # noqa: B019 bounded
    def bounded(self, step):
        return self._tensor()

    def bounded_cache(self, step):
        self.bounded(step)

    def micro_batches(self, step):
        self.micro.append((self.model(self._tensor()) ** 2).mean())
        if len(self.micro) == 4:
            sum(self.micro).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.micro.clear()

    def shadow_weights(self, step):
        with torch.no_grad():
            for own, other in zip(self.shadow.parameters(), self.model.parameters(), strict=True):
                own.lerp_(other, 0.01)

    def keys_of_a_sequence(self, step):
        if step % 9 == 0:
            self.keys = []
        self.keys.append(self._tensor())

    def few_shapes(self, step):
        rows = SIDE + step % 5
        self.by_shape.setdefault(rows, self._tensor(rows))

    def weak_cache(self, step):
        self.current = self._tensor()
        self.weak[step] = self.current

    def numbers_alone(self, step):
        self.flags.append(float(self._tensor().mean()) if self.device == "cpu" else step)

    def prefetch_queue(self, step):
        self.prefetched.put(self._tensor())
        if self.prefetched.full():
            self.prefetched.get()

    def window_in_place(self, step):
        self.window[step % 8] = self._tensor()

    def best_so_far(self, step):
        if step in (1, 2, 4, 5, 9, 17, 26, 38):
            self.best = {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def grows_then_stops(self, step):
        self.batch = self._tensor(SIDE + 16 * min(step, 20))

    def handled_error(self, step):
        try:
            local = self._tensor()
            raise ValueError(local.shape)
        except ValueError:
            pass

    def removed_hook(self, step):
        x = self._tensor()
        handle = self.model.register_forward_hook(lambda module, arguments, result: result + x[0])
        self.model(self._tensor())
        handle.remove()

    def reused_buffer(self, step):
        if self.reused is None:
            self.reused = torch.empty(SIDE, SIDE, device=self.device)
        self.reused.fill_(step)

    def saved_file(self, step):
        if step % 8 == 7:
            file = io.BytesIO()
            torch.save(self.model.state_dict(), file)
            self.image = file.getvalue()

    def clipped(self, step):
        (self.model(self._tensor()) ** 2).mean().backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.model.zero_grad()

    def results_of_each_epoch(self, step):
        self.results.append(self._tensor().sum(1))
        if step % 12 == 11:
            self.summary = torch.stack(self.results)
            self.results = []

    def two_step_delay(self, step):
        self.pending.append(self._tensor())
        self.pending = self.pending[-2:]

    def inference(self, step):
        with torch.inference_mode():
            self.output = self.model(self._tensor())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--gc-off", action="store_true")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--steps", type=int, default=48)
    arguments = parser.parse_args()
    if arguments.gc_off:
        gc.disable()
    healthy, sound = leak_programs.Healthy(arguments.device), Sound(arguments.device)
    calls = methods(healthy) + [call for call in methods(sound) if call.__name__ != "bounded"]
    if not arguments.healthy:
        leaks, more = leak_programs.Leaks(arguments.device), More(arguments.device)
        calls += methods(leaks) + methods(more)
    for step in range(arguments.steps):
        memoir.step(step)
        for call in calls:
            call(step)


if __name__ == "__main__":
    main()
