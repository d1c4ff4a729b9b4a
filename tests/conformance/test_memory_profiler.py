"""PyTorch's test/profiler/test_memory_profiler.py, test by test under its own name: its workload runs once, under torch.profiler and recorded by Memoir, and
`memoir export categories --rules torch` must equal torch.profiler's results for each block that the test profiles, number by number: tree, schemas, which
storage each argument was, data flow, versions, categories, timeline. The test's own assertions are checked on Memoir's answer, too; its expected texts are in
expected/.
"""

import ast
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from torch.profiler import _memory_profiler as memory

import conformance
import profile_text
import timeline_files as files_of_torch

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = [HERE / "gradient_and_flow_programs.py", HERE / "memory_profiler_programs.py"]
RANGE = re.search(r'^RANGE = "(.*)"', (HERE / "profiled_blocks.py").read_text(), re.M).group(1)
NAMES = [name for program in PROGRAMS for name in re.findall(r"^def (test_\w+)", program.read_text(), re.M)]
EVERY = 33  # tests in PyTorch's file; one of them is test_config_check, below


def export(tree, capture, what, number, *options):
    window = ["--range", f"{RANGE}#{number}", *options]
    done = subprocess.run([tree / "bin" / "memoir", "export", what, *window, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    """The capture, and by test its blocks."""
    folder = tmp_path_factory.mktemp("conformance")
    capture, answers = folder / "capture", folder / "answers.json"
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, PROGRAMS[-1], answers]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    blocks = {}
    for block in json.loads(answers.read_text()):
        blocks.setdefault(block["test"], []).append(block)
    return capture, blocks


def impls_of(tree, capture, number, document):
    """For each range of a block the [TensorImpl, address, storage] that it was given: who a tensor is, from the events."""
    lines = [json.loads(line) for line in export(tree, capture, "events", number).splitlines()]
    ranges = [line for line in lines if line["event"] == "range_begin"]
    assert len(ranges) == len(document["arguments"])
    addresses = {row[0]: row[2] for row in document["storages"]}
    rows = []
    for line, arguments in zip(ranges, document["arguments"]):
        here = {addresses[storage]: storage for _, storage in arguments}
        shown = [(tensor["impl"], tensor.get("storage")) for tensor in line["tensors"] if tensor]
        rows.append([[impl, address, here[address]] for impl, address in shown if address in here])
    return rows


def check_gradients(block, document):
    address = {row[0]: row[2] for row in document["storages"]}
    rows = [(how, address.get(parameter), address[gradient]) for how, parameter, gradient in document["gradients"]]
    for how, is_seen, gradient, parameter in block.get("gradients", []):
        found = [row for row in rows if row[0] == how and row[2] == gradient and (parameter is None or row[1] is not None)]
        assert bool(found) == is_seen, (how, gradient, rows)
        assert all(row[1] == parameter for row in found if parameter is not None)
    if "only_gradients" in block:
        allowed, holds = block["only_gradients"]
        assert all(row[2] in allowed for row in rows) == holds


def check_categories(block, document):
    for category, address in block.get("categories", []):
        row = profile_text.newest_at(document, address)
        assert row is not None and row[5] and set(row[5]) == {category}, (category, row)
    assert block.get("without") not in {name for row in document["storages"] for name in row[5]}


def check_timeline(block, document):
    events = [[row[1], abs(row[2])] for row in document["timeline"]]
    for event in block.get("events", []):
        assert event in events


def texts_of(block, document, impls):
    """The text that the original test expects of a block, if any."""
    if "flow_of" in block:
        return profile_text.flow_text(document, block["flow_of"])
    if "asserts_schemas" in block:
        return profile_text.schemas_text(document, RANGE)
    if "operators" in block:
        return profile_text.categories_text(document, block["operators"], impls)
    return profile_text.timeline_text(document) if "asserts_timeline" in block else None


def intermediates(tree, capture, number, folder):
    """Nodes that made and freed something inside, as the data flow's JSON has them."""
    out = folder / f"{number}.json"
    export(tree, capture, "data-flow", number, "--forget-before", "-o", out)
    nodes = json.loads(out.read_text())["nodes"]
    return [[node["name"], [made["tensor"] for made in node["intermediates"]]] for node in nodes if node["intermediates"]]


def compare(tree, capture, name, number, block, folder):
    document = json.loads(export(tree, capture, "categories", block["number"], "--rules", "torch", "--forget-before"))
    torch = profile_text.normal(block["torch"], first=1)
    memoir = profile_text.normal(document, annotations=block["torch"]["annotations"])
    for section in profile_text.SECTIONS:
        assert memoir[section] == torch[section], f"block {number}: {section}"
    flow = export(tree, capture, "data-flow", block["number"], "--forget-before")
    assert flow == "".join(line + "\n" for line in torch["data_flow"])
    check_gradients(block, document)
    check_categories(block, document)
    check_timeline(block, document)
    if "intermediates" in block:
        found = intermediates(tree, capture, block["number"], folder)
        assert found == block["torch"]["intermediates"] and all(row in found for row in block["intermediates"])
    text = texts_of(block, document, impls_of(tree, capture, block["number"], document) if "operators" in block else None)
    if text is not None:
        assert text == (HERE / "expected" / f"{name}.{number}.txt").read_text()


def named(name):
    def test(tree, recorded, tmp_path):
        capture, blocks = recorded
        with conformance.counted("test_memory_profiler.py", name) as count:
            for number, block in enumerate(blocks[name]):
                compare(tree, capture, name, number, block, tmp_path)
                count.blocks += 1
            assert count.blocks > 0

    test.__name__ = test.__qualname__ = name
    return test


globals().update({name: named(name) for name in NAMES})

INCOMPLETE = """
import sys, torch, memoir
def record(folder, **options):
    memoir.start(folder, quiet=True, **options)
    torch.ones((1,)).mul_(2)
    memoir.stop()
record(sys.argv[1] + "/modules", modules="off")
record(sys.argv[1] + "/operators", start="memory")
record(sys.argv[1] + "/dispatch", ops="dispatch")
record(sys.argv[1] + "/whole")
def refusal(**options):
    with torch.profiler.profile(**options) as profiler:
        pass
    try:
        return str(profiler._memory_profile() and "")
    except ValueError as error:
        return str(error)
print([refusal(), refusal(record_shapes=True, with_stack=True), refusal(record_shapes=True, with_stack=True, profile_memory=True)])
"""


def test_config_check(tree, tmp_path):
    """torch.profiler refuses without record_shapes, profile_memory or with_stack; Memoir refuses without operators above autograd or modules; memory is always
    recorded."""
    program = tmp_path / "program.py"
    program.write_text(INCOMPLETE)
    environment = {**os.environ, "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
    done = subprocess.run([sys.executable, program, tmp_path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    nothing, without_memory, complete = ast.literal_eval(done.stdout.splitlines()[-1])
    assert "record_shapes=True, profile_memory=True, with_stack=True" in nothing
    assert without_memory == "profile_memory=True required for memory profiling." and complete == ""

    def answer(name, what="categories"):
        rules = ["--rules", "torch"] if what == "categories" else []
        return subprocess.run([tree / "bin" / "memoir", "export", what, *rules, tmp_path / name], capture_output=True, text=True)

    with conformance.counted("test_memory_profiler.py", "test_config_check") as count:
        for name, fix in {"modules": "without --modules off", "operators": "without --start memory", "dispatch": "without --ops dispatch"}.items():
            for what in ("categories", "data-flow"):
                refused = answer(name, what)
                assert refused.returncode == 1 and refused.stdout == "" and len(refused.stderr.splitlines()) == 1
                assert refused.stderr.startswith("memoir: ") and fix in refused.stderr
            count.blocks += 1
        whole = answer("whole")
        assert whole.returncode == 0 and json.loads(whole.stdout)["data_flow"]
        count.blocks += 1


@pytest.fixture(scope="module")
def timeline_files(tree, recorded, tmp_path_factory):
    """By ending the bytes of each form of test_memory_timeline's timeline."""
    capture, blocks = recorded
    (block,) = blocks["test_memory_timeline"]
    folder = tmp_path_factory.mktemp("files")
    files = {}
    for form in ("json", "json.gz", "raw.json", "raw.json.gz", "html"):
        export(tree, capture, "memory-timeline", block["number"], "--forget-before", "--device", "cpu", "-o", folder / f"timeline.{form}")
        files[form] = (folder / f"timeline.{form}").read_bytes()
    return files, block


def test_timeline_files_are_read_as_torchs(timeline_files):
    files, block = timeline_files
    raw = json.loads(files["raw.json"])
    assert gzip.decompress(files["raw.json.gz"]) == files["raw.json"] and gzip.decompress(files["json.gz"]) == files["json"]
    names = [category.name if category else "UNKNOWN" for category in files_of_torch.CATEGORIES]
    rows = [[memory.Action(action).name, size, names[category]] for _, action, size, category in raw]
    assert rows == [row[1:4] for row in block["torch"]["timeline"]]
    assert all(type(value) is int for row in raw for value in row) and [row[0] for row in raw] == sorted(row[0] for row in raw)
    assert [row[0] == -1 for row in raw] == [row[1] == memory.Action.PREEXISTING.value for row in raw]
    # torch's own code makes of the events the other form.
    times, sizes = files_of_torch.timeline_of(raw, "cpu")._coalesce_timeline("cpu")
    assert json.loads(files["json"]) == [times, sizes] and len(times) > 20


def test_timeline_page_holds_a_picture_as_torchs(timeline_files):
    files, _ = timeline_files
    assert files_of_torch.size_of(files_of_torch.picture_of(files["html"].decode())) == (1600, 960)


def test_all_are_here():
    assert len(NAMES) + 1 == EVERY
