"""Memory that a kernel allocates on threads of OpenMP belongs to the operator whose parallel region they run."""

import pytest

from recording import events, run_explicit

# Attention's backward pass on the CPU has buffers for each thread. The pool's threads are made inside the first recording, and are there when the second begins.
PROGRAM = '''
import sys, torch, memoir
torch.set_num_threads(2)
class Attend(torch.nn.Module):
    def forward(self, q):
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)
attend = Attend()
for name in ("first", "second"):
    with memoir.session(sys.argv[1] + "/" + name):
        for dtype in (torch.float32, torch.bfloat16):
            q = torch.randn(4, 8, 256, 64, dtype=dtype, requires_grad=True)
            with torch.profiler.record_function("attention"):
                attend(q).float().sum().backward()
'''
BACKWARD = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel")
    done = run_explicit(tree, folder, PROGRAM, folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", ["first", "second"])
def test_allocations_of_a_pools_threads_have_an_operator(tree, recorded, name):
    found = events(tree, recorded / name)
    main = next(event["thread"] for event in found if event["event"] == "range_begin" and event["name"] == "attention")
    blocks = [event for event in found if event["event"] == "allocate" and event["thread"] != main]
    assert blocks, "no thread of the pool has allocated anything"
    assert {(block["operator"], block["range"], block["phase"]) for block in blocks} == {(BACKWARD, "attention", "backward")}
    assert {block.get("root") for block in blocks} == {"Attend"}
    own = {event["name"] for event in found if event["event"] == "range_begin" and event["thread"] != main}
    assert {block["leaf"] for block in blocks} <= own | {BACKWARD}
