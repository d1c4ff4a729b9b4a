"""--detail full, auto and blocks on a CPU: which steps are recorded with operators, and what Memoir infers about the other steps."""

import json
import os

import pytest

import same_blocks
from recording import counts, events, record, run_explicit, run_memoir, show

TRANSFORMER = '''
import torch
from torch import nn
model = nn.Sequential(nn.Embedding(200, 64), nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), nn.Linear(64, 200))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(10):
    ids = torch.ones(4, 16, dtype=torch.long)
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''


def both(tree, folder, source, details=("full", "auto")):
    """Records the program once for each detail. Returns the captures by detail."""
    captures = {detail: folder / detail for detail in details}
    for detail in details:
        capture, done = record(tree, folder, source, options=["--detail", detail])
        assert (done.returncode, done.stderr) == (0, ""), done
        capture.rename(captures[detail])
    return captures


def said(tree, capture):
    """Returns the output of `memoir show` on one line, because line breaks depend on the text before."""
    return " ".join(run_memoir(tree, "show", capture).stdout.split())


def known_steps(tree, capture):
    (process,) = show(tree, capture)["processes"]
    return process.get("known_steps")


def agreement(tree, captures):
    """Compares the blocks of the thread that runs the program."""
    full, auto = (same_blocks.read(tree, captures[detail]) for detail in ("full", "auto"))
    (thread,) = {blocks.of["cpu"][0].thread for blocks in (full, auto)}
    found = same_blocks.compare(full, auto, lambda block: block.thread == thread)
    print(found)
    return found


def assert_alike(tree, captures):
    found = agreement(tree, captures)
    assert found.by_time["operator and category"] >= 0.999 and not found.missed("operator and category"), str(found)


def test_what_is_inferred_is_what_is_recorded(tree, tmp_path):
    captures = both(tree, tmp_path, TRANSFORMER)
    steps = known_steps(tree, captures["auto"])
    assert (steps["steps"], steps["steps_in_full"], steps["not_inferred_blocks"]) == (10, 3, 0)
    assert steps["inferred_blocks"] > 100 and steps["inferred_bytes"] > 1 << 20
    assert_alike(tree, captures)
    full, auto = (show(tree, captures[detail])["devices"][0] for detail in ("full", "auto"))
    for key in ("peak_allocated_bytes", "allocations", "allocated_bytes", "deallocated_bytes", "live_bytes_at_end"):
        assert full[key] == auto[key], key
    assert "--detail auto: operators were recorded in 3 of 10 steps" in said(tree, captures["auto"])


def test_behind_parts_that_were_evicted(tree, tmp_path):
    """The newest parts show the same categories as with --detail full, because each part begins with steps that were recorded in full."""
    lengths = TRANSFORMER.replace("range(10)", "range(240)").replace("16", "16 if _ % 4 else 8 + _ % 61")
    categories = {}
    for detail in ("full", "auto"):
        capture, done = record(tree, tmp_path, lengths, options=["--detail", detail, "--max-size", "1MiB"])
        assert (done.returncode, done.stderr) == (0, ""), done
        report = show(tree, capture, "--by", "category")
        assert (report["lost_records"], report["lost_chunks"], report["damage"]) == (0, 0, [])
        assert report["devices"][0]["folded"]["allocations"] > 0 and not report["devices"][0]["peak_in_folded_parts"]
        categories[detail] = {row["name"]: (row["bytes_at_peak"], row["net_bytes"]) for row in report["categories"] if row["bytes_at_peak"] or row["net_bytes"]}
        evicted = report["processes"][0]["evicted"]
        curve = show(tree, capture, "--over", "time")
        length = (curve["window"]["end_ns"] - curve["window"]["begin_ns"]) / 100
        for number, most in enumerate(curve["devices"][0]["max_bytes"]):
            begin = curve["window"]["begin_ns"] + number * length
            inside = any(span["begin_ns"] < begin - 1 and begin + length + 1 < span["end_ns"] for span in evicted)
            assert most is None if inside else True, (detail, number)
        assert None in curve["devices"][0]["max_bytes"]
        assert "evicted by --max-size, only sums are left" in run_memoir(tree, "show", "--over", "time", capture).stdout
        capture.rename(tmp_path / detail)
    known = ("parameter", "gradient", "activation", "optimizer state")
    assert [categories["auto"][name] for name in known] == [categories["full"][name] for name in known]
    assert categories["auto"].get("unknown", (0, 0))[0] < 1024   # numbers that become tensors while operators are switched on again
    assert known_steps(tree, tmp_path / "auto")["inferred_blocks"] > 1000


LARGE_FIRST = '''
import torch
from torch import nn
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(model.parameters())
data = torch.ones(16384, 64)
for step in range(20):
    model(data[:32]).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 15:
        with torch.no_grad():
            model(data)   # the first block of what deviates is the largest of all
'''


def test_the_first_block_of_what_deviates_is_not_known(tree, tmp_path):
    """The first block that deviates is not shown as an input, nor as allocated outside of operators."""
    captures = both(tree, tmp_path, LARGE_FIRST)
    full, auto = (show(tree, captures[detail], "--by", "category") for detail in ("full", "auto"))
    at_peak = [{row["name"]: row["bytes_at_peak"] for row in report["categories"] if row["bytes_at_peak"]} for report in (full, auto)]
    assert at_peak[0]["input"] == at_peak[1]["input"]
    assert at_peak[1]["unknown"] == 4 * 16384 * 256 and "unknown" not in at_peak[0]
    assert auto["devices"][0]["unattributed_bytes"] == full["devices"][0]["unattributed_bytes"]
    assert known_steps(tree, captures["auto"])["not_inferred_bytes"] >= 4 * 16384 * 256
    explained = run_memoir(tree, "explain", captures["auto"], "model.0.weight").stdout
    assert "outside of any operator" not in explained


LARGER_BATCH = '''
import torch
from torch import nn
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(model.parameters())
def train(batch):
    data = torch.ones(batch, 64)
    model(data).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for step in range(24):
    train(1024 if step == 17 else 32)
'''
OTHER_LINE = LARGER_BATCH.replace("    data = torch.ones(batch, 64)\n", "    if batch == 32:\n        data = torch.ones(batch, 64)\n    else:\n        data = torch.ones(batch, 64)\n")


def categories_at_peak(report):
    return {row["name"]: row["bytes_at_peak"] for row in report["categories"] if row["bytes_at_peak"]}


def test_a_rare_larger_batch_is_input(tree, tmp_path):
    """The peak is in a step that was not recorded in full, and the batch is its first block."""
    captures = both(tree, tmp_path, LARGER_BATCH)
    full, auto = (categories_at_peak(show(tree, captures[detail], "--by", "category")) for detail in ("full", "auto"))
    assert auto == full and auto["input"] == 4 * 1024 * 64
    assert known_steps(tree, captures["auto"])["not_inferred_bytes"] == 0


def test_what_is_not_known_of_a_larger_step_is_unknown(tree, tmp_path):
    """The batch is shown as unknown and not as an activation, although backward reads it."""
    captures = both(tree, tmp_path, OTHER_LINE)
    full, auto = (show(tree, captures[detail], "--by", "category") for detail in ("full", "auto"))
    unknown = known_steps(tree, captures["auto"])["not_inferred_bytes"]
    assert unknown == 4 * 1024 * 64
    at_peak = categories_at_peak(full)
    at_peak["unknown"] = at_peak.pop("input")
    assert categories_at_peak(auto) == at_peak
    lives = json.loads(run_memoir(tree, "show", "--at", "peak", "--by", "category", "--json", captures["auto"]).stdout)
    assert {row["name"]: row["bytes"] for row in lives["devices"][0]["categories"]} == at_peak
    assert "unknown" in run_memoir(tree, "show", "--by", "category,line", captures["auto"]).stdout


def test_blocks_alone(tree, tmp_path):
    program = "import memoir\nmemoir.start('explicit', detail='blocks')\n" + TRANSFORMER + "memoir.stop()\n"
    done = run_explicit(tree, tmp_path, program, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done
    report = show(tree, tmp_path / "explicit")
    assert not any(row["kind"] == "named" for row in report["operators"]) and "known_steps" not in report["processes"][0]
    assert {event["event"] for event in events(tree, tmp_path / "explicit")} & {"range_begin", "module_enter"} == set()
    captures = both(tree, tmp_path, TRANSFORMER, ("full", "blocks"))
    sizes = [[block.size for block in same_blocks.read(tree, captures[detail]).of["cpu"]] for detail in ("full", "blocks")]
    assert len(sizes[0]) > 500 and sizes[0] == sizes[1]


def test_always_on(tree, tmp_path):
    printed = run_memoir(tree, "run", "--print-env=json", "--always-on", cwd=tmp_path)
    assert printed.returncode == 0 and json.loads(printed.stdout)["MEMOIR_DETAIL"] == "auto"
    capture, done = record(tree, tmp_path, TRANSFORMER, options=["--always-on"])
    assert (done.returncode, done.stderr) == (0, "")
    assert known_steps(tree, capture)["steps_in_full"] == 3


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("options", [["--always-on", "--detail", "blocks"], ["--detail", "blocks", "--always-on"]], ids=["before", "behind"])
def test_always_on_beside_another_detail(tree, tmp_path, options):
    """An explicit --detail wins over --always-on, in either order."""
    printed = run_memoir(tree, "run", "--print-env=json", *options, cwd=tmp_path)
    assert printed.returncode == 0 and json.loads(printed.stdout)["MEMOIR_DETAIL"] == "blocks"


def test_in_the_environment(tree, tmp_path):
    program = "import memoir\nmemoir.start('capture')\n" + TRANSFORMER
    done = run_explicit(tree, tmp_path, program, environment={**os.environ, "MEMOIR_DETAIL": "auto"}, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert known_steps(tree, tmp_path / "capture")["steps_in_full"] == 3


def test_what_is_no_detail_is_refused(tree, tmp_path):
    done = run_memoir(tree, "run", "--detail", "some", "--", "echo", "started", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and "full, auto or blocks" in done.stderr, done
    done = run_explicit(tree, tmp_path, "import memoir\nmemoir.start('capture', detail='some')\n", cwd=tmp_path)
    assert done.returncode == 1 and "detail=some is none of full, auto and blocks" in done.stderr, done
    assert not (tmp_path / "capture").exists()


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("window", [{"steps": "1:2"}, {"range": "work"}, {"schedule": "active=1"}], ids=lambda window: "".join(window))
def test_auto_beside_a_window_is_refused(tree, tmp_path, window):
    arguments = ", ".join(f"{name}={value!r}" for name, value in window.items())
    done = run_explicit(tree, tmp_path, f"import memoir\nmemoir.start('capture', detail='auto', {arguments})\n", cwd=tmp_path)
    assert done.returncode == 1 and "detail=auto chooses the steps in which operators are recorded" in done.stderr, done
    assert not (tmp_path / "capture").exists()


def test_auto_beside_a_window_is_refused_by_run(tree, tmp_path):
    """`memoir run` refuses --detail auto with --steps, as it refuses two windows."""
    done = run_memoir(tree, "run", "--detail", "auto", "--steps", "1:2", "--", "echo", "started", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "", done


WITHOUT_STEPS = '''
import torch
a = torch.ones(1000)
for _ in range(20): torch.mul(a, 2)
'''
NEVER_THE_SAME = '''
import torch, memoir
for number in range(12):
    memoir.step(number)
    torch.mul(torch.ones(1000 + number), 2)
'''


def test_without_steps_all_is_recorded(tree, tmp_path):
    captures = both(tree, tmp_path, WITHOUT_STEPS)
    report = show(tree, captures["auto"])
    assert counts(report)["aten::mul.Tensor"] == 20 and "gaps" not in report["processes"][0] and "known_steps" not in report["processes"][0]
    assert_alike(tree, captures)


def test_steps_that_never_repeat_are_recorded(tree, tmp_path):
    captures = both(tree, tmp_path, NEVER_THE_SAME)
    report = show(tree, captures["auto"])
    assert counts(report)["aten::mul.Tensor"] == 12 and "gaps" not in report["processes"][0]
    assert known_steps(tree, captures["auto"]) == {
        "steps": 12, "steps_in_full": 12, "inferred_blocks": 0, "inferred_bytes": 0, "not_inferred_blocks": 0, "not_inferred_bytes": 0}
    found = agreement(tree, captures)
    assert not found.different
    assert "operators were recorded in all 12" in said(tree, captures["auto"])


DEVIATES = '''
import torch, memoir
for number in range(14):
    memoir.step(number)
    a = torch.ones(1000)
    b = torch.mul(a, 2) if number != 8 else torch.cat([a, a])
    c = torch.add(b, 1)
    d = torch.sub(c, 1)
'''


def test_a_step_that_deviates_is_recorded_from_there_on(tree, tmp_path):
    captures = both(tree, tmp_path, DEVIATES)
    steps = known_steps(tree, captures["auto"])
    # Five steps are recorded with operators: steps 0 to 2; step 9, which follows the deviating step 8; and step 10, because the last step that followed a step
    # like step 9 was step 8, which has no reference step.
    # In step 8 cat had begun before operators were switched on again, so its result is unknown. Also unknown is the category of the number that add turns into
    # a tensor before it begins.
    assert (steps["steps"], steps["steps_in_full"], steps["not_inferred_blocks"]) == (14, 5, 1), steps
    report = show(tree, captures["auto"])
    assert counts(report)["aten::add.Tensor"] == 6 and counts(report)["aten::mul.Tensor"] == 5
    found = agreement(tree, captures)
    # Step 8 has the ninth mark. The first allocation that deviates is inside of aten::cat, which began before operators were switched on again.
    assert [(step, unlike.get("operator")) for step, _, unlike in found.different] == [(9, ("aten::cat", None)), (9, None)], str(found)


OPTIMIZERS_LOOP = '''
import torch, memoir
weight = torch.nn.Parameter(torch.ones(1000))
optimizer = torch.optim.SGD([weight], lr=0.1)
for number in range(12):
    FIRST
    (weight * 2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    LAST
'''


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("source, steps", [
    (OPTIMIZERS_LOOP.replace("FIRST", "memoir.step(number)").replace("LAST", ""), 12),
    # The first mark is the optimizer's, because the program's own marks come after it.
    (OPTIMIZERS_LOOP.replace("FIRST", "").replace("LAST", "memoir.step(number)"), 13),
], ids=["at the top", "at the end"])
def test_steps_of_the_program_beside_those_of_an_optimizer(tree, tmp_path, source, steps):
    captures = both(tree, tmp_path, source)
    found = known_steps(tree, captures["auto"])
    assert found["steps"] == steps and found["steps_in_full"] <= 5 and found["not_inferred_blocks"] == 0, found
    assert_alike(tree, captures)


PAUSED = '''
import torch, memoir
for number in range(16):
    memoir.step(number)
    a = torch.ones(1000)
    if WHEN: memoir.pause(HOW)
    b = torch.mul(a, 2)
    if WHEN: memoir.resume()
    c = torch.add(b, 1)
    d = torch.sub(c, 1)
'''


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("when, how", [
    ("True", "memory=True"), ("number == 8", ""), ("True", ""), ("number == 1", ""), ("number == 1", "memory=True"), ("number == 8", "memory=True"),
])
def test_pauses(tree, tmp_path, when, how):
    """Events that the program excluded may be inferred; no recorded event is lost or mistaken for another."""
    captures = both(tree, tmp_path, PAUSED.replace("WHEN", when).replace("HOW", how))
    found = agreement(tree, captures)
    assert all(ours in (None, "UNKNOWN") for _, _, unlike in found.different for ours, _ in unlike.values()), str(found)
