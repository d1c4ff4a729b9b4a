"""Where a rank stands among the job's: read from its DeviceMesh, or from process groups with descriptions; and the settings of torch's allocator."""

import json
import os
import subprocess
import sys

import pytest
from recording import run_explicit, run_memoir, show

# torch's stand-in for other ranks: each test is one process.
BEGIN = """
import sys, torch, torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", rank=13, world_size=16, store=FakeStore())
"""
WAYS = "mesh = init_device_mesh('cpu', (2, 4, 2), mesh_dim_names=('pp', 'dp', 'tp'))\n"
END = "torch.ones(1000)\n"
EXPECTED = [("pp", 1, 2), ("dp", 2, 4), ("tp", 1, 2)]


def coordinates(tree, capture):
    process, = show(tree, capture)["processes"]
    return [(of["dimension"], of["index"], of["size"]) for of in process["coordinates"]]


@pytest.fixture
def recorded(tree, tmp_path):
    def recorded(program, **variables):
        (tmp_path / "program.py").write_text(BEGIN + program + END)
        done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, tmp_path / "program.py"],
                              env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return tmp_path / "capture"

    return recorded


def test_of_a_mesh(tree, recorded):
    capture = recorded(WAYS)
    assert coordinates(tree, capture) == EXPECTED
    assert "rank 13 of 16 (pp 1, dp 2, tp 1), pid" in " ".join(run_memoir(tree, "show", capture).stdout.split())
    assert run_memoir(tree, "summarize", capture).returncode == 0
    recording, = show(tree, capture, "--by", "job")["recordings"]
    assert [(of["dimension"], of["index"], of["size"]) for of in recording["coordinates"]] == EXPECTED
    assert "pp 1, dp 2, tp 1" in run_memoir(tree, "show", "--by", "job", capture).stdout


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("then", ["mesh['dp', 'tp']", "mesh['dp', 'tp']._flatten('all')", "init_device_mesh('cpu', (16,))", "DeviceMesh('cpu', [13])"])
def test_a_part_of_a_mesh_says_less(tree, recorded, then):
    assert coordinates(tree, recorded(WAYS + then + "\n")) == EXPECTED


def test_another_view_of_the_same_ranks_adds_its_dimensions(tree, recorded):
    """As torchtitan makes a second one for experts."""
    second = "init_device_mesh('cpu', (2, 8, 1, 1), mesh_dim_names=('pp', 'efsdp', 'ep', 'etp'))\n"
    assert coordinates(tree, recorded(WAYS + second)) == [*EXPECTED, ("efsdp", 5, 8)]


def test_another_job_of_the_process_has_none_of_the_first(tree, tmp_path):
    program = BEGIN + "import memoir\nmemoir.start(sys.argv[1], quiet=True)\n" + WAYS + """
memoir.stop()
dist.destroy_process_group()
memoir.start(sys.argv[2], quiet=True)
torch.ones(1000)
memoir.stop()
dist.init_process_group("fake", rank=1, world_size=4, store=FakeStore())
init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
memoir.start(sys.argv[3], quiet=True)
torch.ones(1000)
memoir.stop()
"""
    done = run_explicit(tree, tmp_path, program, *(tmp_path / name for name in ("first", "second", "third")))
    assert done.returncode == 0, done.stderr
    assert [coordinates(tree, tmp_path / name) for name in ("first", "second", "third")] == [EXPECTED, [], [("dp", 1, 4)]]


def test_a_mesh_of_more_ranks_says_more(tree, recorded):
    assert coordinates(tree, recorded("init_device_mesh('cpu', (16,), mesh_dim_names=('world',))\n" + WAYS)) == EXPECTED


def test_of_groups_as_megatron_makes_them(tree, recorded):
    """Of groups that it is in, with more than one rank; a mesh takes their place."""
    groups = """
dist.new_group([12, 13], group_desc="TENSOR_MODEL_PARALLEL_GROUP")
dist.new_group([14, 15], group_desc="TENSOR_MODEL_PARALLEL_GROUP")
dist.new_group([5, 13], group_desc="PIPELINE_MODEL_PARALLEL_GROUP")
dist.new_group([13], group_desc="CONTEXT_PARALLEL_GROUP")
dist.new_group([12, 13, 14, 15], group_desc="TENSOR_AND_DATA_PARALLEL_GROUP")
dist.new_group([9, 13], group_desc="DATA_PARALLEL_GROUP_GLOO")
dist.new_group([4, 5, 12, 13], group_desc="MODEL_PARALLEL_GROUP")
dist.new_group([1, 13])
"""
    assert coordinates(tree, recorded(groups)) == [("tensor", 1, 2), ("pipeline", 1, 2)]
    assert coordinates(tree, recorded(groups + WAYS)) == EXPECTED


def test_no_mesh_says_nothing(tree, recorded):
    assert coordinates(tree, recorded("init_device_mesh('cpu', (16,))\n")) == []


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("name", ["'\\udcff'", "'x' * 5000", "'a\\x1b[31m\\n'", "''"])
def test_odd_names(tree, recorded, name):
    capture = recorded(f"init_device_mesh('cpu', (16,), mesh_dim_names=({name},))\n")
    (dimension, index, size), = coordinates(tree, capture)
    assert (index, size) == (13, 16) and len(dimension.encode()) <= 64 + 16
    text = run_memoir(tree, "show", capture)
    assert text.returncode == 0 and "\x1b" not in text.stdout


def test_a_mesh_that_is_there_before_the_recording_and_a_second_recording(tree, tmp_path):
    program = BEGIN + """
import memoir
memoir.start(sys.argv[1], quiet=True)
memoir.stop()
""" + WAYS + """
memoir.start(sys.argv[2], quiet=True)
torch.ones(1000)
memoir.stop()
"""
    done = run_explicit(tree, tmp_path, program, tmp_path / "first", tmp_path / "second")
    assert done.returncode == 0, done.stderr
    assert coordinates(tree, tmp_path / "second") == EXPECTED


def test_the_settings_of_the_allocator(tree, recorded):
    """Of torch 2.9's name and of the old one the first that is set."""
    capture = recorded("", PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:64", PYTORCH_ALLOC_CONF="expandable_segments:True")
    assert show(tree, capture)["processes"][0]["allocator_settings"] == "expandable_segments:True"


def test_a_redacted_capture_has_the_numbers_alone(tree, recorded, tmp_path):
    capture = recorded(WAYS.replace("'dp'", "'secret_dimension'"), PYTORCH_ALLOC_CONF="expandable_segments:True")
    done = run_memoir(tree, "export", "redacted", capture, "-o", tmp_path / "redacted", "--key", tmp_path / "key")
    assert done.returncode == 0, done.stderr
    found = coordinates(tree, tmp_path / "redacted")
    assert [one[1:] for one in found] == [one[1:] for one in EXPECTED] and "secret" not in json.dumps(found)
    assert show(tree, tmp_path / "redacted")["processes"][0]["allocator_settings"] == "expandable_segments:True"


def test_a_mesh_between_graphs(tree, tmp_path):
    """Dynamo leaves torch's __init__ alone, and must leave it alone still. (Torch 2.11 fails there by itself.)"""
    (tmp_path / "program.py").write_text(BEGIN + """
@torch.compile(backend="eager")
def f(x):
    return x + DeviceMesh("cpu", list(range(16)), mesh_dim_names=("w",)).size()


print(f(torch.ones(2)))
""")
    alone = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=300)
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, tmp_path / "program.py")
    if alone.returncode == 0:
        assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert "_coordinates.py" not in done.stderr
