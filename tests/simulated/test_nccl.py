"""NCCL among real processes: small payloads really move, large ones delay no rank, and a rank that ends or never arrives hangs no other."""

import json
import pathlib
import subprocess
import sys

import pytest

from simulation import environment

RANKS = pathlib.Path(__file__).parent / "nccl_ranks.py"


def run(tree, case, ranks=3, **variables):
    """(what each rank saw, the lines that Memoir said)"""
    given = {"MEMOIR_SIM_GPU": "t4", "MEMOIR_SIM_DEVICES": 4, "MEMOIR_SIM_TIMEOUT": 60, **variables}
    done = subprocess.run([sys.executable, RANKS, case, str(ranks)], env=environment(tree, **given), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), [line for line in done.stderr.splitlines() if line.startswith("memoir:")]


def test_collectives(tree):
    seen, said = run(tree, "collectives")
    assert not said
    for rank, one in enumerate(seen):
        assert one == {
            "all_reduce": [6, 30], "broadcast": [1, 7], "reduce": [7 if rank == 2 else -1], "reduce_scatter": [30 + 3 * rank], "all_gather": [0, 1, 4],
            "all_to_all": [rank, 10 + rank, 20 + rank], "gather": [0, 1, 2] if rank == 0 else [-1] * 3, "scatter": [100 + rank]}


def test_many_in_a_row(tree):
    seen, _ = run(tree, "many_in_a_row", 4)
    assert seen == [[6 * step for step in range(50)]] * 4


def test_sends_in_a_group(tree):
    seen, _ = run(tree, "sends")
    assert seen == [[100 * ((rank - 1) % 3) + i for i in range(9)] for rank in range(3)]


def test_what_is_only_given_waits_for_nobody(tree):
    assert run(tree, "what_is_only_given_waits_for_nobody", 2)[0] == [0, 5]


def test_large_ones_move_nothing_and_hold_nobody_up(tree):
    assert run(tree, "large_ones_move_nothing", 2)[0] == [[[0], [0, 1]], [[], [0, 1]]]


def test_device_memory(tree):
    assert run(tree, "device_memory")[0] == [[3, 3]] * 3


@pytest.mark.parametrize("card, taken", [("h100", [490, 490, 490 + 447, 0]), ("a100-40", [544, 544, 544, 0]), ("t4", [0, 0, 0, 0])])
def test_buffers_are_charged_as_the_table_has_them(tree, card, taken):
    assert run(tree, "buffers", 2, MEMOIR_SIM_GPU=card)[0] == [taken] * 2


def test_buffers_that_do_not_fit(tree):
    seen, said = run(tree, "no_room_for_buffers", 2, MEMOIR_SIM_GPU="a100-40", MEMOIR_SIM_MEMORY="900MiB")
    assert seen == ["error 1"] * 2
    assert sorted(said) == [f"memoir: simulated GPU: NCCL needs 544.00 MiB of device {rank} for a communicator of 2 ranks (an estimate, from a table), and has not so "
                            "much left" for rank in range(2)]


def test_splits_and_shrinks(tree):
    seen, said = run(tree, "parts", 4)
    assert not said
    assert seen == [[[2, 0], None, [0, 2, 3]], [[3, 1], None, None], [[2, 0], [2, 3], [0, 2, 3]], [[3, 1], [2, 3], [0, 2, 3]]]


def test_a_rank_that_ended_is_named(tree):
    seen, said = run(tree, "one_ends")
    assert seen[1] == "ended" and seen[0] == seen[2] == ["error 6", "error 6"]
    assert len(said) == 2 and all("rank 1 of 3 (process " in line and "ended before its part of ncclAllGather" in line for line in said), said


def test_a_rank_that_does_not_come_is_named(tree):
    seen, said = run(tree, "one_does_not_come", 2, MEMOIR_SIM_TIMEOUT=5)
    assert seen == ["error 6", "was elsewhere"]
    assert said == ["memoir: simulated GPU: rank 1 of 2 did not come to ncclAllGather within 5 s; rank 0 gives up (MEMOIR_SIM_TIMEOUT)"]


def test_a_rank_that_does_not_join_is_named(tree):
    seen, said = run(tree, "not_all_join", 2, MEMOIR_SIM_TIMEOUT=1)
    assert seen[0].startswith("error") and len(said) == 1 and "rank 1 of 2 did not come to ncclCommInitRank within 1 s" in said[0], (seen, said)


def test_two_ranks_on_one_device_are_refused(tree):
    seen, said = run(tree, "one_device", 2)
    assert seen == ["error 5"] * 2 and len(said) == 2 and all("ranks 0 and 1 are both on device 0, which NCCL refuses" in line for line in said), said


def test_each_process_with_a_card_of_its_own(tree):
    """Ranks that number their one card 0, as CUDA_VISIBLE_DEVICES has it, are not on the same."""
    assert run(tree, "one_device_each", 2)[0] == [[0, 1]] * 2


def test_calls_that_differ_are_named(tree):
    seen, said = run(tree, "calls_differ", 2)
    assert seen == [6, 6] and len(said) == 2 and "rank 1 gives 12 bytes where rank 0 takes 16; the ranks' calls differ" in " ".join(said), said


@pytest.mark.parametrize("case, words", [
    ("a_foreign_id", "its id was not made by this simulated NCCL"),
    ("too_many", "65 ranks, but at most 64 processes can meet"),
])
def test_what_cannot_be_joined(tree, case, words):
    seen, said = run(tree, case, 1) if case == "too_many" else run(tree, case, 2)
    assert seen[0] == "error 2" and words in said[0], (seen, said)


def test_the_device_has_all_that_this_torch_imports(tree):
    """With every torch (tests/every_torch.txt): one build of the device serves all of them."""
    done = subprocess.run([tree / "bin" / "memoir", "doctor", "--simulated", "--json", "--python", sys.executable], capture_output=True, text=True, timeout=120)
    checks = {check["subject"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["simulated CUDA"]["level"] == "ok" and "has all" in checks["simulated CUDA"]["finding"], checks["simulated CUDA"]
