"""Python stacks in a recording: a block's stack equals traceback's at its allocation."""

import json

import pytest

from recording import events, record, show

# Each block has a different size, which pairs the capture's stack with the one that the program noted.
SAID = '''
import json, sys, torch
SAID = {}
SIZES = iter(range(1000, 10**9, 8))
def here():
    """Allocates a block of its own size, and notes the frames around the caller."""
    size = next(SIZES)
    block, frame, frames = torch.empty(size, dtype=torch.uint8), sys._getframe().f_back, []
    while frame is not None:
        frames.append([frame.f_code.co_filename, getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_lineno])
        frame = frame.f_back
    SAID[size] = frames
    return block
def finish():
    json.dump(SAID, open(sys.argv[1], "w"))
'''


def with_frames(tree, capture):
    """The events; stacks with all their frames."""
    known = {0: []}
    for event in events(tree, capture):
        if event["event"] == "stack":
            event["frames"] = known.setdefault(event["stack"], event.get("frames"))
        yield event


def stacks_of_blocks(tree, capture):
    """bytes -> frames of the thread when the block was made, as [file, function, line]."""
    stacks, found = {}, {}
    for event in with_frames(tree, capture):
        thread = (event["process"], event.get("thread"))
        if event["event"] == "stack":
            stacks[thread] = [[frame["file"], frame["function"], frame["line"]] for frame in event["frames"]]
        if event["event"] == "allocate":
            found[event["bytes"]] = stacks.get(thread, [])
    return found


def compare(tree, folder, source, options=(), least=1):
    said = folder / "said.json"
    capture, done = record(tree, folder, SAID + source + "\nfinish()\n", said, options=options)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = {int(size): frames for size, frames in json.loads(said.read_text()).items()}
    found = stacks_of_blocks(tree, capture)
    assert len(wanted) >= least
    for size, frames in wanted.items():
        assert found[size][0][1] == "here" and found[size][1:] == frames
    return capture


def test_frames_are_what_python_says(tree, tmp_path):
    compare(tree, tmp_path, '''
import asyncio, functools, gc, threading
def generator():
    here(); yield 1
    yield from (here() for _ in range(2))
async def waits():
    here(); await asyncio.sleep(0); here()
class Body:
    block = here()
    def method(self): return (lambda: [here() for _ in range(2)])()
def deep(left): return deep(left - 1) if left else here()
def raises():
    try: raise KeyError
    except KeyError: here()
    finally: here()
def work():
    for depth in range(20): deep(depth); raises()
list(generator()); asyncio.run(waits()); Body().method(); deep(900); raises()
for name in ("<string>", "<ipython-input-3-0123>", "/ü/файл.py"):
    exec(compile("def f(x):\\n    return (\\n        here())\\n\\nf(1)", name, "exec"), {"here": here})
list(map(functools.partial(lambda x: here()), range(3)))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
''', least=180)


def test_code_whose_place_other_code_takes(tree, tmp_path):
    compare(tree, tmp_path, '''
places = set()
for i in range(3000):
    code = compile("\\n" * (i % 5) + f"def f{i % 700}():\\n    here()\\nf{i % 700}()", f"file{i % 900}.py", "exec")
    places.add(id(code)); exec(code, {"here": here}); del code
assert len(places) < 1500
''', least=3000)


@pytest.mark.parametrize("options", [["--simulate", "h100"], ["--ops", "dispatch"]])
def test_on_a_gpu_and_below_autograd(tree, tmp_path, options):
    device = "cuda" if "--simulate" in options else "cpu"
    source = SAID.replace("dtype=torch.uint8", f"dtype=torch.uint8, device={device!r}").replace("range(1000, 10**9, 8)", "range(2**21, 10**10, 2**21)")
    said = tmp_path / "said.json"
    program = source + '''
def deep(left): return deep(left - 1) if left else here()
blocks = [deep(i % 7) for i in range(40)]
finish()
'''
    capture, done = record(tree, tmp_path, program, said, options=options)
    assert (done.returncode, done.stderr) == (0, "")
    found = stacks_of_blocks(tree, capture)
    for size, frames in json.loads(said.read_text()).items():
        assert found[int(size)][0][1] == "here" and found[int(size)][1:] == frames


def test_forward_operators_say_their_lines(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import torch
layer = torch.nn.Linear(8, 8)
def forward(x):
    y = torch.tanh(x)  # line 5
    return layer(y)
forward(torch.ones(3, 8, requires_grad=True)).sum().backward()
''')
    assert (done.returncode, done.stderr) == (0, "")
    stacks, lines, backward = {}, {}, {}
    for event in with_frames(tree, capture):
        if event["event"] == "stack":
            stacks[event["thread"]] = event["frames"]
        if event["event"] == "range_begin" and event["source"] == "function" and "sequence" in event:
            lines[event["sequence"]] = (event["name"], stacks[event["thread"]])
        if event["event"] == "range_begin" and event["source"] == "backward" and "sequence" in event:
            backward[event["name"]] = lines.get(event["sequence"])
    name, frames = backward["TanhBackward0"]
    assert name == "aten::tanh"
    assert [(frame["function"], frame["line"]) for frame in frames] == [("forward", 5), ("<module>", 7)]
    name, frames = backward["AddmmBackward0"]
    assert [frame["function"] for frame in frames][-2:] == ["forward", "<module>"]
    assert frames[0]["file"].endswith("torch/nn/modules/linear.py")


def test_the_line_of_the_peak_is_that_of_the_forward_operator_in_every_grouping(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import torch
x = torch.ones(1 << 20, requires_grad=True)
y = torch.exp(x).sum()  # line 4
y.backward(retain_graph=True)
''')
    assert (done.returncode, done.stderr) == (0, "")
    for by in ("operator", "line", "category", "parameter", "rank", "shape", "thread", "category,module"):
        (device,) = show(tree, capture, "--by", by)["devices"]
        assert (device["peak_line"]["line"], device["peak_operator"]) == (4, "aten::mul.Tensor"), by


def test_off(tree, tmp_path):
    capture, done = record(tree, tmp_path, "import torch\ntorch.ones(3)\n", options=["--stacks", "off"])
    assert (done.returncode, done.stderr) == (0, "")
    assert not [event for event in events(tree, capture) if event["event"] == "stack"]


def test_many_threads_call_return_and_throw(tree, tmp_path):
    """A million allocations while eight threads do so; what frames say must be right wherever it is looked at. Ten million: test_many_stacks.py."""
    assert call_return_and_throw(tree, tmp_path, times=47_000) > 1_000_000


def call_return_and_throw(tree, tmp_path, times):
    """How many blocks were made."""
    capture, done = record(tree, tmp_path, '''
import sys, threading, torch
def call(depth, size):
    if depth == 0: return torch.empty(size, dtype=torch.uint8)
    try:
        block = call(depth - 1, size)
        if depth % 3 == 0: raise KeyError(depth)
        return block
    except KeyError:
        return torch.empty(size + 1, dtype=torch.uint8)
def work(number, times):
    for i in range(times): call(i % 13, 10000 + 100 * (i % 13))
threads = [threading.Thread(target=work, args=(i, int(sys.argv[1]))) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
''', times, options=["--max-size", "3MB"], timeout=3600)
    assert (done.returncode, done.stderr) == (0, "")
    report = show(tree, capture)
    process, = report["processes"]
    assert (process["dropped_events"], process["unread_stacks"], process["cut_stacks"]) == (0, 0, 0)
    looked_at, stacks = 0, {}
    for event in with_frames(tree, capture):
        if event["event"] == "stack":
            stacks[event["thread"]] = event["frames"]
        if event["event"] != "allocate" or event.get("from_keyframe"):
            continue
        depth, raised = divmod(event["bytes"] - 10000, 100)
        calls = [frame for frame in stacks[event["thread"]] if frame["function"] == "call"]
        looked_at += 1
        if raised:
            assert calls[0]["line"] == 10 and (depth - len(calls) + 1) % 3 == 0
        else:
            assert calls[0]["line"] == 4 and len(calls) == depth + 1
    assert looked_at > 1000
    return sum(1 + i % 13 // 3 for i in range(times)) * 8
