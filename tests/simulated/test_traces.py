"""torch's allocator makes the same calls in every run, with and without values, and for a small program the same as when this was written.
"""

import os
import pathlib

import pytest

from simulation import ON_GPU, answers

GOLDEN = pathlib.Path(__file__).parent / "traces"
PROGRAM = '''
import json, torch
torch.cuda.memory._record_memory_history(max_entries=1000000, context=None)
torch.manual_seed(0)
{body}
torch.cuda.synchronize()
trace = torch.cuda.memory._snapshot()["device_traces"][0]
print(json.dumps([[entry["action"], entry["size"], entry["addr"]] for entry in trace]))
'''
BODIES = {
    "linear": '''
layer = torch.nn.Linear(1024, 1024).cuda()
layer(torch.randn(64, 1024, device="cuda")).sum().backward()
''',
    "transformer": '''
layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True).cuda()
optimizer = torch.optim.AdamW(layer.parameters())
for length in (64, 80):
    optimizer.zero_grad()
    layer(torch.randn(4, length, 256, device="cuda")).sum().backward()
    optimizer.step()
''',
    "expandable": '''
kept = [torch.empty(size << 20, dtype=torch.uint8, device="cuda") for size in (3, 30, 1, 50)]
del kept[1], kept[0]
torch.cuda.empty_cache()
''',
}


@pytest.fixture(scope="module", params=BODIES)
def traced(request, tree):
    """(name, the traces of a run with values, and of one without)"""
    program = PROGRAM.format(body=BODIES[request.param])
    configuration = "expandable_segments:True" if request.param == "expandable" else ""
    runs = [answers(tree, program, MEMOIR_SIM_GPU="h100", MEMOIR_SIM_VALUES=values, PYTORCH_CUDA_ALLOC_CONF=configuration) for values in ("on", "off")]
    return request.param, runs


@pytest.mark.skipif(ON_GPU, reason="a card's driver gives each process addresses of its own")
def test_two_runs_are_equal_to_the_address(traced):
    _, (first, second) = traced
    assert len(first) > 5 and first == second


def test_actions_and_sizes_are_the_golden_ones(traced):
    name, (first, _) = traced
    if ON_GPU and "H100" not in answers(None, "import json, torch; print(json.dumps(torch.cuda.get_device_name()))"):
        pytest.skip("the golden traces are those of an H100")
    path = GOLDEN / f"{name}.txt"
    text = "".join(f"{action} {size}\n" for action, size, _ in first)
    if os.environ.get("MEMOIR_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"MEMOIR_UPDATE_GOLDEN=1 writes {path} anew: read the difference"
