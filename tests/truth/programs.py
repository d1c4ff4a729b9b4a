"""Programs of published runs, written anew. `python programs.py FACTS NAME` runs the one of that name (facts.json) and prints what torch
says of its memory, as JSON. Nothing here knows of a simulation: on a machine with such a GPU it is the run itself.
"""

import collections
import contextlib
import gc
import json
import math
import os
import sys

import torch

from decoders import AssigningDecoder, ConcatenatingDecoder, softmax

MIB = 1 << 20
WARM_UPS, TRIALS = 5, 10


def tokens_of(fact):
    return torch.randint(0, fact["model"]["vocabulary"], (fact["batch"], fact["sequence"]), device="cuda")


def model_of(fact, kind):
    shape = {key: fact["model"][key] for key in ("vocabulary", "d_model", "d_ff", "layers", "heads")}
    return kind(**shape, length=fact["sequence"])


class Recorded:
    """Figures of facts.json for the body, from torch's history of the allocator."""

    def __enter__(self):
        torch.cuda.synchronize()
        torch.cuda.memory._record_memory_history(max_entries=1000000, context=None)
        torch.cuda.reset_peak_memory_stats()
        self.start_allocated, self.start_reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        return self

    def __exit__(self, *_):
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        statistics = torch.cuda.memory_stats()
        sizes = collections.Counter(segment["total_size"] for segment in snapshot["segments"])
        kinds = collections.Counter(event["action"] for event in snapshot["device_traces"][0])
        self.figures = {
            "peak_allocated": statistics["allocated_bytes.all.peak"], "peak_active": statistics["active_bytes.all.peak"],
            "peak_reserved": statistics["reserved_bytes.all.peak"], "peak_requested": statistics["requested_bytes.all.peak"],
            "start_allocated": self.start_allocated, "start_reserved": self.start_reserved,
            "end_allocated": statistics["allocated_bytes.all.current"], "end_reserved": statistics["reserved_bytes.all.current"],
            "events": sum(kinds.values()), "event_kinds": dict(kinds), "segments": sum(sizes.values()),
            "segment_sizes": {str(size): count for size, count in sorted(sizes.items())},
        }


def forward_concatenated(fact, _):
    """Forward passes with autograd; the last is recorded, warm."""
    model = model_of(fact, ConcatenatingDecoder)
    tokens, _targets = tokens_of(fact), tokens_of(fact)

    def run():
        model(tokens)

    for _ in range(WARM_UPS):
        run()
    with Recorded() as recorded:
        model.zero_grad()
        run()
    return recorded.figures


def forward_assigned(fact, facts):
    """Forward passes in a new model each, of growing length in one process; the one of the length asked for is recorded, cold."""
    torch.set_float32_matmul_precision("high")
    lengths = [fact["sequence"]] if fact["name"].endswith("-fresh") else [128, 256, 512]

    def run(length):
        model = model_of({**fact, "sequence": length}, AssigningDecoder)
        batch = torch.randint(0, fact["model"]["vocabulary"], (fact["batch"], length)).to("cuda")
        inputs = batch
        with Recorded() as recorded:
            torch.cuda.empty_cache()
            logits = model(inputs)
        del logits
        return recorded.figures

    for length in lengths[: lengths.index(fact["sequence"]) + 1]:
        figures = run(length)
        gc.collect()
    return figures


def linear(fact, _):
    with Recorded() as recorded, torch.no_grad() if "no_grad" in fact["phase"] else contextlib.nullcontext():
        model = torch.nn.Linear(fact["model"]["inputs"], fact["model"]["outputs"], device="cuda")
        for _ in range(3):
            inputs = torch.randn(fact["batch"], fact["model"]["inputs"], device="cuda")
            outputs = model(inputs)  # noqa: F841 (kept while the next is made)
    return recorded.figures


def attention(fact, _):
    """Allocated bytes after a forward pass of attention, for each row of the table."""
    found = []
    for row in fact["rows"]:
        shape = (8, row["sequence"], row["d_model"])
        query, key, value = (torch.rand(shape, requires_grad=True, device="cuda") for _ in range(3))
        mask = torch.tril(torch.ones((row["sequence"], row["sequence"]), device="cuda")).bool()

        def attend():
            scores = torch.einsum("bqd,bkd->bqk", query, key) / math.sqrt(row["d_model"])
            scores = torch.where(mask, scores, float("-inf"))
            weights = softmax(scores)
            return torch.einsum("bqk,bkd->bqd", weights, value)

        for _ in range(2):
            out = attend()
            loss = out.sum()
            loss.backward()
        for _ in range(2):
            out = attend()
        found.append(round(torch.cuda.memory_allocated() / MIB, 4))
    return {"allocated_mib": found}


class WrittenAdamW(torch.optim.Optimizer):
    """AdamW as a loop over the parameters with new moments at each step."""

    def __init__(self, parameters):
        super().__init__(parameters, {"rate": 1e-3, "decay": 0.01, "betas": (0.9, 0.999)})

    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                gradient, state = parameter.grad.data, self.state[parameter]
                first_rate, second_rate = group["betas"]
                step = state.get("step", 1)
                first_before = state.get("first", torch.zeros_like(gradient))
                second_before = state.get("second", torch.zeros_like(gradient))
                first = first_rate * first_before + ((1 - first_rate) * gradient)
                second = second_rate * second_before + ((1 - second_rate) * torch.square(gradient))
                rate = group["rate"] * (math.sqrt(1 - second_rate**step) / (1 - first_rate**step))
                parameter.data -= rate * first / (torch.sqrt(second) + 1e-8)
                parameter.data -= group["rate"] * group["decay"] * parameter.data
                state["first"], state["second"], state["step"] = first, second, step + 1


def log_softmax(x):
    largest = torch.max(x, dim=-1, keepdim=True)[0]
    x = x - largest
    return x - torch.log(torch.sum(torch.exp(x), dim=-1, keepdim=True))


def cross_entropy(logits, targets):
    negative = -log_softmax(logits)
    return torch.mean(torch.gather(negative, -1, targets.unsqueeze(-1)))


def train(fact, _):
    """Training steps until it is out of memory, or has done as many as the published run."""
    model = model_of(fact, ConcatenatingDecoder)
    tokens, targets = tokens_of(fact), tokens_of(fact)
    optimizer = WrittenAdamW(model.parameters())
    cast = torch.autocast("cuda", dtype=torch.bfloat16) if "bf16" in fact["precision"] else contextlib.nullcontext()

    def step():
        with cast:
            optimizer.zero_grad()
            output = model(tokens)
            loss = cross_entropy(output, targets)
            loss.backward()
            optimizer.step()

    def accumulate():  # gradients of all steps add up: they are there while the next step goes forward
        model(tokens).mean().backward()

    run = step if "AdamW" in fact["phase"] else accumulate
    try:
        for _ in range(int(os.environ.get("TRUTH_STEPS", WARM_UPS + TRIALS))):
            run()
    except torch.cuda.OutOfMemoryError as error:
        return {"ended": "failed", "message": str(error)}
    return {"ended": "success", "message": None, "peak_reserved": torch.cuda.max_memory_reserved(), "peak_allocated": torch.cuda.max_memory_allocated()}


PROGRAMS = {"forward-concatenated": forward_concatenated, "forward-assigned": forward_assigned, "linear": linear, "attention": attention, "train": train}


def main(path, name):
    with open(path) as file:
        facts = json.load(file)
    fact = next(fact for fact in facts if fact["name"] == name)
    found = PROGRAMS[fact["program"]](fact, facts)
    print(json.dumps({"name": name, "torch": torch.__version__, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
