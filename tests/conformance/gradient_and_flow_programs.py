"""Workloads of PyTorch's test_memory_profiler.py, by the names of its tests: what is found to be a gradient, schemas, data flow."""

import torch

from profiled_blocks import ScaleLayer, detected, flow, only, profile, schemas


def test_extract_gradients_low_level(test):
    x = torch.ones((1,))
    w0, w1 = (torch.ones((1,), requires_grad=True) for _ in range(2))
    for cold in (True, False):
        assert (w0.grad is None) == (w1.grad is None) == cold
        with profile(test) as block:
            ((x.expand(4) * w0) * w1).sum().backward()
        for w in (w0, w1):
            detected(block, "accumulated", True, w.grad)
        only(block, w0.grad, w1.grad)


def test_extract_gradients_from_module(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), ScaleLayer())
    parameters = list(model.parameters())
    assert len(parameters) == 3
    for cold in (True, False):
        x = torch.ones((2, 2))
        with profile(test) as block:
            model(x).sum().backward()
        for p in parameters:
            detected(block, "held", not cold, p.grad, p)
            detected(block, "accumulated", True, p.grad)
        only(block, *(p.grad for p in parameters))
        with profile(test) as block:
            model(torch.ones((2, 2)))
        for p in parameters:
            detected(block, "held", True, p.grad, p)
            detected(block, "accumulated", False, p.grad)
        only(block, *(p.grad for p in parameters))


def gradients_from_optimizer(test, set_to_none):
    x = torch.ones((1,))
    w0, w1 = (torch.ones((1,), requires_grad=True) for _ in range(2))
    optimizer = torch.optim.SGD((w0, w1), lr=0.1, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=set_to_none)
        z = x.expand(4) * w0
        (z * w1).sum().backward()
        optimizer.step()

    for cold in (True, False):
        assert (w0.grad is None) == (w1.grad is None) == cold
        with profile(test) as block:
            step()
        for w in (w0, w1):
            detected(block, "held", True, w.grad, w)
            detected(block, "accumulated", True, w.grad)
        only(block, w0.grad, w1.grad)
        with profile(test) as block:
            step()
            step()
        # An optimizer's tensors are read at once: gradients made since are not seen there.
        for w in (w0, w1):
            detected(block, "held", not set_to_none, w.grad, w)
        if set_to_none:
            only(block, w0.grad, w1.grad, holds=False)


def test_extract_gradients_from_optimizer(test):
    gradients_from_optimizer(test, set_to_none=False)


def test_extract_gradients_from_optimizer_set_to_none(test):
    gradients_from_optimizer(test, set_to_none=True)


def test_extract_gradients_from_module_and_optimizer(test):
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), ScaleLayer())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with profile(test) as block:
        model(torch.ones((2, 2))).sum().backward()
        optimizer.step()
    detected(block, "held", True, model[0].weight.grad, model[0].weight)


def test_match_schemas(test):
    def body():
        x = torch.ones((1,)).mul(2).add_(2)
        torch.sin(x, out=torch.empty_like(x))

    schemas(test, body)


def test_match_schemas_backward(test):
    x, w = torch.ones((1,)), torch.ones((1,), requires_grad=True)
    schemas(test, lambda: torch.mul(x, w).backward())


def test_match_schemas_tensorlist(test):
    x, y = torch.ones((1,)), torch.ones((1,))
    schemas(test, lambda: torch.cat([x, y], axis=0))


def test_data_flow_graph_with_annotations(test):
    def body(x, y):
        with torch.profiler.record_function("Namespaced::Annotation"), torch.profiler.record_function("My Annotation"):
            x.zero_()
            y.zero_()
            return {"x0": torch.ones_like(x), "y0": torch.zeros_like(y)}

    flow(test, body, x=torch.ones((1,)), y=torch.ones((1,)))


def test_data_flow_graph_non_op_allocations(test):
    def body(x):
        x.mul(2)

    flow(test, body, x=torch.ones((1,)))


def test_data_flow_graph_simple(test):
    def body(x, y):
        z = x.mul(y)
        return {"z": z.view_as(z)}

    x, y = torch.ones((25,)), torch.ones((25,), requires_grad=True)
    flow(test, body, x=x, y=y)
    with torch.no_grad():
        flow(test, body, x=x, y=y)


def test_data_flow_graph_simple_inplace(test):
    def body(x, y):
        x.mul_(y)

    x, y = torch.ones((25,)), torch.ones((25,), requires_grad=True)
    flow(test, body, x=x, y=y)
    with torch.no_grad():
        flow(test, body, x=x, y=y)


def test_data_flow_graph_simple_backward(test):
    flow(test, lambda x, w: (x * w).sin().backward(), x=torch.ones((1,)), w=torch.ones((1,), requires_grad=True))


def test_data_flow_graph_complicated(test):
    def body():
        x = torch.ones((25,))
        y = x.mul(2).add_(2)
        z = torch.sin(y, out=torch.empty_like(y))
        return {"x": x, "y": y, "z": z}

    flow(test, body)
    with profile(test) as block:
        body()
    block["intermediates"] = [["aten::mul", [2]]]


def test_data_flow_graph_stacked(test):
    def loss_of(x, w0, w1):
        return x.mul(w0).relu().mul(w1).relu().sum()

    def forward(**inputs):
        with torch.no_grad():
            return {"loss": loss_of(**inputs)}

    def forward_backward(**inputs):
        loss = loss_of(**inputs)
        loss.backward()
        return {"loss": loss}

    inputs = {"x": torch.ones((25,)), "w0": torch.ones((1,), requires_grad=True), "w1": torch.ones((1,), requires_grad=True)}
    for body in (forward, forward_backward, forward_backward):
        flow(test, body, **inputs)
