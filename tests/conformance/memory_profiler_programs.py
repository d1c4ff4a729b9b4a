"""The workloads of PyTorch's test/profiler/test_memory_profiler.py, by the names of its tests: categories and timeline here, the others imported.

    memoir run -o CAPTURE -- python memory_profiler_programs.py OUT.json
"""

import json
import sys

import torch

import gradient_and_flow_programs
from profiled_blocks import BLOCKS, ScaleLayer, categories, parameters_and_gradients, pointer, profile


class LazyLinear(torch.nn.Module):
    """Has its parameters from its first call on."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.shape = (outputs, inputs)

    def forward(self, x):
        if getattr(self, "weight", None) is None:
            self.weight = torch.nn.Parameter(torch.empty(self.shape))
            self.bias = torch.nn.Parameter(torch.empty(self.shape[0]))
        return torch.nn.functional.linear(x, self.weight, self.bias)


def test_parameters_and_gradients(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), ScaleLayer(), torch.nn.Linear(2, 1), ScaleLayer())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def forward():
        model(torch.ones((2, 2)))

    def step():
        optimizer.zero_grad()
        y = model(torch.ones((2, 2)))
        torch.nn.functional.mse_loss(y, torch.rand((2, 1))).backward()
        optimizer.step()

    parameters_and_gradients(test, forward, model, gradients=False)
    for body in (step, step, forward):
        parameters_and_gradients(test, body, model)


def test_parameters_and_gradients_set_to_none(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def steps():
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            y = model(torch.ones((2, 2)))
            torch.nn.functional.mse_loss(y, torch.rand((2, 1))).backward()
            optimizer.step()

    steps()
    parameters_and_gradients(test, steps, model)
    optimizer.zero_grad(set_to_none=True)
    parameters_and_gradients(test, steps, model)


def inputs_of_forward(test, model, category):
    inputs = [torch.ones((2, 2)) for _ in range(2)]
    with profile(test) as block:
        for x in inputs:
            model(x)
        for _ in range(2):
            x = torch.ones((2, 2))
            inputs.append(x)
            model(x)
    block["categories"] = [[category, pointer(x)] for x in inputs]


def test_inputs_fwd(test):
    inputs_of_forward(test, torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)), "INPUT")


def test_inputs_fwd_lazy(test):
    inputs_of_forward(test, torch.nn.Sequential(LazyLinear(2, 2), LazyLinear(2, 1)), "UNKNOWN")
    BLOCKS[-1]["without"] = "INPUT"


def test_inputs_fwd_bwd(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pairs = [(torch.ones((2, 2)), torch.rand((2, 1))) for _ in range(2)]

    def step(x, targets):
        torch.nn.functional.mse_loss(model(x), targets).backward()
        optimizer.step()
        optimizer.zero_grad()

    with profile(test) as block:
        for x, targets in pairs:
            step(x, targets)
        for _ in range(2):
            x, targets = torch.ones((2, 2)), torch.rand((2, 1))
            pairs.append((x, targets))
            step(x, targets)
    block["categories"] = [["INPUT", pointer(tensor)] for pair in pairs for tensor in pair]


def test_lazily_initialized(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), LazyLinear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    assert len(list(model.parameters())) == 4

    def body():
        y = model(torch.ones((2, 2)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(y, torch.rand((2, 1))).backward()
        optimizer.step()

    parameters_and_gradients(test, body, model)
    assert len(list(model.parameters())) == 6


def test_manual_optimizer_step(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))

    def body():
        torch.nn.functional.mse_loss(model(torch.ones((2, 2))), torch.rand((2, 1))).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(parameter.grad, alpha=-0.1)

    parameters_and_gradients(test, body, model)


def products(test, backward=False, step=False):
    w0, w1 = (torch.ones((1,), requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD([w0, w1], lr=0.1) if step else None

    def body(mark):
        x = torch.ones((2, 2))
        if not backward:
            y = torch.cat([x * w0, x * w1], dim=1)
            return
        targets = torch.ones((2, 4))
        mark("Forward & loss")
        y = torch.cat([x * w0, x * w1], dim=1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(y, targets)
        mark("Backward")
        loss.backward()
        if step:
            mark("Optimizer")
            optimizer.step()
            optimizer.zero_grad()

    categories(test, body)


def test_categories_e2e_simple_fwd(test):
    products(test)


def test_categories_e2e_simple_fwd_bwd(test):
    products(test, backward=True)


def test_categories_e2e_simple_fwd_bwd_step(test):
    products(test, backward=True, step=True)


def test_categories_e2e_simple_module_fwd(test):
    model = torch.nn.Linear(2, 4)
    categories(test, lambda mark: model(torch.ones((2, 2))))


def linear(test, step):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def body(mark):
        mark("Forward & loss")
        loss = model(torch.ones((2, 2))).sum()
        mark("Backward")
        loss.backward()
        if step:
            mark("Optimizer")
            optimizer.step()
            optimizer.zero_grad()

    categories(test, body)


def test_categories_e2e_simple_module_fwd_bwd(test):
    linear(test, step=False)


def test_categories_e2e_simple_module_fwd_bwd_step(test):
    linear(test, step=True)


def perceptron(inputs, hidden):
    layers = [torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden, bias=False), torch.nn.Softmax(dim=1)]
    return torch.nn.Sequential(*layers)


def test_categories_e2e_sequential_fwd(test):
    model = perceptron(2, 4)
    categories(test, lambda mark: model(torch.ones((2, 2))))


def test_categories_e2e_sequential_fwd_bwd(test):
    model = perceptron(2, 4)

    def body(mark):
        x = torch.ones((2, 2))
        targets = torch.ones((2, 4))
        mark("Forward")
        y = model(x)
        mark("Loss")
        loss = torch.sum((y - targets) ** 2).mean()
        mark("Backward")
        loss.backward()

    categories(test, body)


def test_memory_timeline(test):
    model = perceptron(64, 512)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    with profile(test) as block:
        x = torch.ones((1024, 64))
        targets = torch.ones((1024, 512))
        y = model(x)
        loss = torch.nn.functional.mse_loss(y, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    block["asserts_timeline"] = True


def test_memory_timeline_no_id(test):
    x = torch.ones((1024,))
    with profile(test) as block:
        del x
        y = torch.empty((64,))
        del y
        z = torch.empty((256,))
        z.view_as(z)
        del z
    block["events"] = [["CREATE", 256], ["DESTROY", 256], ["CREATE", 1024], ["DESTROY", 1024]]


def main():
    torch.set_num_threads(1)
    for name, test in [*vars(gradient_and_flow_programs).items(), *globals().items()]:
        if name.startswith("test_"):
            torch.manual_seed(0)
            test(name)
    json.dump(BLOCKS, open(sys.argv[1], "w"))


if __name__ == "__main__":
    main()
