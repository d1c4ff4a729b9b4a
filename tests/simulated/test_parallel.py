"""Unmodified distributed programs: as real processes under torchrun, and as one rank of a world whose other ranks are not there."""

import json
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parent / "parallel_programs.py"
SEGMENT = 20 << 20      # of torch's allocator
WEIGHTS = 3 * (2 * 256 * 1024 + 1024 + 256) * 4
EACH = ("ddp", "fsdp1", "fsdp2", "tensor_parallel")


def memoir(tree, folder, *arguments):
    command = [tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--simulate", "h100", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)


def answers(done):
    assert done.returncode == 0, done.stderr[-3000:]
    return sorted((json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")), key=lambda seen: seen["rank"])


def alone(tree, folder, rank, world, backend, *styles):
    done = memoir(tree, folder, "--sim-rank", rank, "--sim-world", world, "--", sys.executable, PROGRAM, backend, *styles)
    return answers(done)[0]


def test_processes_of_torchrun(tree, tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 2)
    done = memoir(tree, tmp_path, "--sim-devices", 2, "--", sys.executable, *launcher, PROGRAM, "nccl", *EACH, "objects", "unequal_objects", "rings", "groups")
    seen = answers(done)
    assert [one["rank"] for one in seen] == [0, 1]
    for rank, one in enumerate(seen):
        other = 1 - rank
        assert one["ddp"] == WEIGHTS and one["fsdp2"] == WEIGHTS / 2 and one["fsdp1"] == WEIGHTS / 2
        assert one["unequal_objects"] == [[1, 11], [{"from": 0}, "second"]]
        assert one["objects"] == [0, 1] and one["rings"] == [10.0 + other, [0.0 + rank, 100.0 + rank]] and one["groups"] == [2.0, 1.0, 2.0]
    # A segment more or less: docs/simulated_device.md, Late completion.
    assert abs(seen[0]["reserved"] - seen[1]["reserved"]) <= SEGMENT and "memoir: simulated" not in done.stderr


def test_one_rank_of_eight(tree, tmp_path):
    seen = alone(tree, tmp_path, 5, 8, "nccl!", *EACH, "tensor_parallel_and_fsdp2", "groups", "objects", "rings")
    assert (seen["rank"], seen["world"], seen["local rank"]) == (5, 8, 5)
    assert seen["ddp"] == WEIGHTS and seen["fsdp2"] == WEIGHTS / 8
    assert seen["tensor_parallel_and_fsdp2"][1:] == [4.0, 2.0]      # each rank of a group contributes the same as this one
    assert seen["groups"] == [2.0, 1.0, 8.0] and seen["objects"] == [5, 5]
    assert seen["rings"] == [15.0, [505.0] * 8]
    report = json.loads(subprocess.run([tree / "bin" / "memoir", "show", "--json", tmp_path / "capture"], capture_output=True, text=True, timeout=60).stdout)
    assert [attempt["missing_ranks"] for attempt in report["attempts"]] == [[]] and report["processes"][0]["world_size"] == 8
    assert report["processes"][0]["simulated_device"].endswith("(h100), alone of 8 ranks")


def test_one_rank_of_thousands(tree, tmp_path):
    """With every torch (tests/every_torch.txt): where it waits for other ranks is its own."""
    seen = alone(tree, tmp_path, 6, 4096, "cpu:gloo,cuda:nccl", "tensor_parallel_and_fsdp2", "gloo")
    assert (seen["rank"], seen["world"], seen["local rank"]) == (6, 4096, 6)
    assert seen["tensor_parallel_and_fsdp2"][1:] == [2048.0, 2.0] and seen["gloo"] == 2.0 * 4096
    assert 0 < seen["tensor_parallel_and_fsdp2"][0] <= WEIGHTS / 512


@pytest.mark.parametrize("options, words", [
    (("--sim-world", "0"), "--sim-world=0: expected a number of ranks from 1 to 4096"),
    (("--sim-world", "4097"), "--sim-world=4097: expected a number of ranks from 1 to 4096"),
    (("--sim-world", "8", "--sim-rank", "8"), "--sim-rank=8: a world of 8 has the ranks 0 to 7"),
    (("--sim-world", "8", "--sim-rank=-1"), "--sim-rank=-1: expected a whole number"),
    (("--sim-rank", "1"), "--sim-rank=1: of which world? add --sim-world N"),
])
def test_impossible_worlds(tree, tmp_path, options, words):
    done = memoir(tree, tmp_path, *options, "--", "echo", "started")
    assert done.returncode == 2 and done.stdout == "" and words in done.stderr.splitlines()[0], done


def test_a_world_needs_a_card(tree):
    done = subprocess.run([tree / "bin" / "memoir", "run", "--sim-world", "4", "--", "echo", "started"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no simulated GPU: add --simulate CARD" in done.stderr


def test_a_launcher_inside_of_a_world_is_refused(tree, tmp_path):
    program = "import os; os.environ['RANK'], os.environ['WORLD_SIZE'] = '1', '2'; import torch; print('went on')"
    done = memoir(tree, tmp_path, "--sim-world", 8, "--", sys.executable, "-c", program)
    assert done.returncode == 2 and "went on" not in done.stdout, done
    assert "simulated as rank 0 of 8, but a launcher sets rank 1 of 2" in done.stderr


def test_what_a_launcher_would_set(tree, tmp_path):
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MEMOIR_SIM_DEVICES")
    for options, expected in {("13", "16"): "13 16 5 8 1 127.0.0.1 8", ("3", "6"): "3 6 3 6 0 127.0.0.1 6", ("8", "9"): "8 9 2 3 2 127.0.0.1 3"}.items():
        done = memoir(tree, tmp_path, "--sim-rank", options[0], "--sim-world", options[1], "--", "sh", "-c", "echo " + " ".join(f"${name}" for name in names))
        assert done.stdout.strip() == expected


SENDS_TENSORS = '''
import torch, torch.multiprocessing as mp
def child(tensors, answers):
    tensor = tensors.get()
    answers.put((tensor.device.type, tuple(tensor.shape), torch.cuda.memory_allocated()))
if __name__ == "__main__":
    context = mp.get_context("spawn")
    tensors, answers = context.Queue(), context.Queue()
    process = context.Process(target=child, args=(tensors, answers))
    process.start()
    tensor = torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
    tensors.put(tensor)
    print(answers.get(timeout=120))
    process.join()
    print(process.exitcode)
'''


def test_tensors_in_a_queue(tree, tmp_path):
    """They arrive with their shape, and take no memory of the process that they come to."""
    (tmp_path / "sends.py").write_text(SENDS_TENSORS)
    done = memoir(tree, tmp_path, "--", sys.executable, tmp_path / "sends.py")
    assert done.returncode == 0 and done.stdout.splitlines() == ["('cuda', (8388608,), 0)", "0"], done
