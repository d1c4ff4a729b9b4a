"""memoir check ranks: jobs of 8 to 128 ranks in which one is out of line, 52 of them, and 50 healthy ones. Each rank is a copy of a recording of its
stage on the simulated device (write_job.cc); the odd one is a copy of a recording in which something is wrong (odd_rank.py)."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys

import pytest
from odd_rank import BEGINS, ODDITIES

PROGRAM = pathlib.Path(__file__).with_name("odd_rank.py")
MIB = 1 << 20
SIZES = (8, 16, 64, 128)  # ranks of the jobs; roles of at least four
MODULES = ("blocks.", "embedding", "logits", "loss")
# For each fault on one rank: the figure, the optimizer step in which it began (or the next, whose peak has it), and the names in rows of the peak.
EXPECTED = {
    "longer": ("allocated", BEGINS, {"module": MODULES, "line": "odd_rank.py:"}),
    "leak": ("growth", BEGINS, {"line": "odd_rank.py:"}),
    "grad": ("allocated", BEGINS + 1, {"module": MODULES, "category": "activation (no backward came)"}),
    "uneven": ("allocated", 0, {"module": MODULES, "line": "odd_rank.py:"}),
    "copy": ("allocated", BEGINS, {"category": "parameter (copy)", "operator": "aten::clone", "line": "odd_rank.py:"}),
    "wide": ("allocated", 0, {"category": ("parameter", "gradient")}),
    "workspace": ("outside_torch", None, {}),
    "fewer": ("steps", None, {}),
    "precision": ("allocated", 0, {"module": MODULES, "line": "odd_rank.py:"}),
    "kept_activations": ("allocated", 0, {"module": MODULES, "category": "activation"}),
    "adam": ("allocated", 0, {"category": "optimizer state", "operator": "aten::zeros_like"}),
    "hook": ("allocated", BEGINS, {"module": "blocks.1"}),
    "killed": ("killed", None, {}),
}  # fmt: skip

# For the faults that a comparison of the programs explains: words of its explanation.
EXPLAINED = {"longer": "2.0 times as large", "uneven": "the batch of ", "wide": "a size is "}


@pytest.fixture(scope="module")
def role(tree, tmp_path_factory):
    """role(stage, what, seed): the folder with the recording of one rank, made once."""
    made = {}

    def role(stage, what="plain", seed=0):
        if (stage, what, seed) not in made:
            folder = made[stage, what, seed] = tmp_path_factory.mktemp("role") / "capture"
            command = [tree / "bin/memoir", "run", "-q", "--stacks", "python", "--simulate", "h100", "-o", folder, "--", sys.executable, PROGRAM]
            done = subprocess.run([*command, str(stage), "2", what, str(seed)], capture_output=True, text=True, timeout=300)
            assert done.returncode == -signal.SIGKILL if what == "killed" else (done.returncode, done.stderr) == (0, ""), done.stderr
        return made[stage, what, seed]

    return role


@pytest.fixture
def checked(tree, tmp_path):
    """checked(ranks, roles, options): what `memoir check ranks` says of such a job, and its exit code."""

    def checked(ranks, roles, *options):
        job = tmp_path / f"job{len(list(tmp_path.iterdir()))}"
        subprocess.run([os.environ["WRITE_JOB"], job, str(ranks), *options, *roles], check=True)
        if ranks > 64:
            subprocess.run([tree / "bin/memoir", "summarize", job], check=True, capture_output=True)
        done = subprocess.run([tree / "bin/memoir", "check", "ranks", "--json", job], capture_output=True, text=True, timeout=300)
        assert done.stderr == "", done.stderr
        return json.loads(done.stdout), done.returncode

    return checked


def test_all_oddities_are_expected():
    assert set(EXPECTED) == set(ODDITIES)


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("what", EXPECTED)
def test_one_rank_is_named(role, checked, what):
    figure, since, names = EXPECTED[what]
    plain = [role(0), role(1)]
    for stage, ranks in enumerate(SIZES):
        odd = random.Random(what).randrange(ranks // 2) * 2 + stage % 2
        found, code = checked(ranks, plain, "--odd", f"{odd}={role(stage % 2, what)}")
        assert code == 3 and [one["ranks"] for one in found["odd"]] == [[odd]], found["odd"]
        one = found["odd"][0]
        assert one["figure"] == figure and (one["since_step"] == since if since is None else one["since_step"] in (since, since + 1)), one
        rows = {row["by"]: row for row in one["at_peak"]}
        assert {by: any(one in rows[by]["name"] for one in (name if isinstance(name, tuple) else (name,))) for by, name in names.items()} == dict.fromkeys(names, True), rows
        assert found["headline"].startswith(f"rank {odd} (node{odd // 8:04}): ")
        assert found["differences"] == []
        if what in EXPLAINED:
            assert any(EXPLAINED[what] in change["text"] for change in one["program"]["changes"]), one
        if what == "killed":
            assert f"was killed by signal 9 (SIGKILL) after {BEGINS} steps, its role made 16" in found["headline"]
        if figure == "growth":
            assert "odd_rank.py:" in one["growth"]["place"] and one["growth"]["module"].startswith("blocks.")


@pytest.mark.parametrize("ranks", SIZES[:3])
def test_another_version_is_named(role, checked, ranks):
    found, code = checked(ranks, [role(0), role(1)], "--torch", f"{ranks - 3}=2.10.0")
    assert code == 3 and found["odd"] == []
    difference, = found["differences"]
    assert difference["what"] == "torch" and {"value": "2.10.0", "who": f"rank {ranks - 3}", "ranks": [f"rank {ranks - 3}"]} in difference["values"]


def test_settings_of_the_allocator_are_compared(role, checked):
    found, code = checked(8, [role(0), role(1)], "--allocator", "5=expandable_segments:True")
    difference, = found["differences"]
    assert code == 3 and found["odd"] == [] and difference["what"] == "settings of the allocator"
    assert {"value": "expandable_segments:True", "who": "rank 5", "ranks": ["rank 5"]} in difference["values"]


def test_a_replica_whose_data_is_longer_is_one_finding(role, checked):
    """Both stages of it: one finding each, for a stage is a role."""
    plain = [role(0), role(1)]
    options = [word for rank in range(12, 16) for word in ("--odd", f"{rank}={role(rank % 2, 'longer')}")]
    found, code = checked(64, plain, "--mesh", "dp=16,tp=2,pp=2", *options)
    assert code == 3 and [one["place"] for one in found["roles"]] == ["pp 0", "pp 1"]
    assert sorted((one["ranks"], one["place"]) for one in found["odd"]) == [([12, 14], "dp 3"), ([13, 15], "dp 3")]
    assert {one["who"] for one in found["odd"]} == {"dp 3, ranks 12, 14", "dp 3, ranks 13, 15"}
    found, code = checked(64, plain, *options)
    assert sorted(one["ranks"] for one in found["odd"]) == [[12], [13], [14], [15]] and {one["place"] for one in found["odd"]} == {""}


def test_one_rank_says_where_it_stands(role, checked):
    found, code = checked(16, [role(0), role(1)], "--mesh", "dp=8,pp=2", "--odd", f"11={role(1, 'kept_activations')}")
    one, = found["odd"]
    assert code == 3 and one["ranks"] == [11] and one["place"] == "dp 5, pp 1" and one["who"] == "rank 11 (node0001, dp 5, pp 1)"


def test_experts_that_hold_more_accuse_nobody(role, checked):
    """A fourth of the ranks with a wider layer: what their coordinate explains."""
    options = [word for rank in range(3, 32, 4) for word in ("--odd", f"{rank}={role(1, 'wide')}")]
    found, code = checked(32, [role(1)], "--mesh", "dp=8,ep=4", *options)
    assert (found["odd"], code) == ([], 0) and [(one["place"], one["split_by"]) for one in found["roles"]] == [(f"ep {i}", "ep") for i in range(4)]
    found, code = checked(32, [role(1)], "--mesh", "dp=8,tp=4", *options)
    assert code == 3 and {one["place"] for one in found["odd"]} == {"tp 3"}


@pytest.mark.in_turn
def test_a_host_whose_libraries_take_more(role, checked):
    """All ranks of node 1."""
    options = [word for rank in range(8, 16) for word in ("--odd", f"{rank}={role(rank % 2, 'workspace')}")]
    found, code = checked(32, [role(0), role(1)], *options)
    one, = found["odd"]
    assert code == 3 and one["ranks"] == list(range(8, 16)) and (one["host"], one["figure"]) == ("node0001", "outside_torch")
    assert one["value"] - one["usual"] >= 192 * MIB


@pytest.mark.in_turn
@pytest.mark.parametrize("seed", range(5))
def test_healthy_ranks_are_not_accused(role, checked, seed):
    """Ten jobs a seed: all ranks alike, and lengths that differ from rank to rank."""
    choose = random.Random(seed)
    plain = [role(0), role(1)]
    for job in range(10):
        ranks = SIZES[job % 3]
        options = []
        variants = sorted(range(ranks), key=lambda _: choose.random()) if job >= 3 and seed > 0 else ()
        for rank, variant in enumerate(variants):   # no rank has the data of most others
            options += ["--odd", f"{rank}={role(rank % 2, 'varied', variant % 6 + 1)}"]
        found, code = checked(ranks, plain, *options)
        assert (found["odd"], found["differences"], code) == ([], [], 0)
        assert sorted(rank for one in found["roles"] for rank in one["ranks"]) == list(range(ranks)) and len(found["roles"]) == 2


def test_collect_brings_the_recordings_of_the_odd_one_alone(tree, role, tmp_path):
    whole, job = tmp_path / "whole", tmp_path / "job"
    hosts = [tmp_path / f"host{i}" for i in range(2)]
    subprocess.run([os.environ["WRITE_JOB"], whole, "16", "--odd", f"13={role(1, 'leak')}", role(0), role(1)], check=True)
    subprocess.run([tree / "bin/memoir", "summarize", whole], check=True, capture_output=True)
    for file in sorted(whole.iterdir()):
        host = hosts[int(file.name[1:6]) // 8]
        host.mkdir(exist_ok=True)
        file.rename(host / file.name)
    done = subprocess.run([tree / "bin/memoir", "collect", "-o", job, *hosts], capture_output=True, text=True)
    assert done.returncode == 0 and "out of line: rank 13: 1 file of recordings" in done.stderr, done.stderr
    assert len(list(job.glob("*.memoir-summary"))) == 16 and [file.name[:7] for file in job.glob("*.memoir")] == ["r00013."]
    done = subprocess.run([tree / "bin/memoir", "check", "leaks", "--rank", "13", "--json", job], capture_output=True, text=True)
    assert any("odd_rank.py" in leak["file"] for leak in json.loads(done.stdout)["leaks"])
