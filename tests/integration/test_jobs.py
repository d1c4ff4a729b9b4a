"""Jobs of several processes: one folder, files of their own for each process that trains, ranks that are known late, one that speaks."""

import os
import re
import socket
import subprocess
import sys

import pytest

from recording import counts, record, run_explicit, run_memoir, show

RANK_VARIABLES = re.compile("(RANK|WORLD_SIZE|LOCAL_RANK|SLURM_.*|OMPI_.*|PMI_.*|PMIX_.*|TORCHELASTIC_.*|RAY_.*|MEMOIR_.*)$")
PLAIN = {**{name: value for name, value in os.environ.items() if not RANK_VARIABLES.match(name)}, "OMP_NUM_THREADS": "1"}
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")

TRAIN = '''
import os, signal, sys, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
torch.ones(3)
if os.environ["TORCHELASTIC_RESTART_COUNT"] < sys.argv[1]: sys.exit(f"attempt {os.environ['TORCHELASTIC_RESTART_COUNT']} fails")
if sys.argv[2:] and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":    # before there is a group: gloo would find the first attempt's addresses
    if os.environ["RANK"] != sys.argv[2]:
        open("recorded", "w").close()
        signal.pause()
    while not os.path.exists("recorded"): pass
    os.kill(os.getpid(), signal.SIGKILL)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters())
for _ in range(3):
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
if dist.get_rank() == 1: torch.neg(torch.ones(1000))
dist.destroy_process_group()
'''


def launch(tree, folder, source, *command, options=("-o", "capture"), environment=PLAIN):
    """Runs `source` by `command` under `memoir run`, in `folder`."""
    (folder / "train.py").write_text(source)
    return run_memoir(tree, "run", *options, "--", *command, cwd=folder, env=environment)


def files(capture):
    """(rank, restart) in the names of the part files."""
    return sorted((int(name[1:6]), int(name.split(".")[1][1:])) for name in os.listdir(capture))


def overviews_are_equal(tree, capture):
    """With no summary, with all of them and with some: what is read differs, what is shown does not."""
    def overview():
        shown = show(tree, capture, "--by", "job")
        return {key: value for key, value in shown.items() if key != "summaries"}, shown["summaries"]["read"]

    without, read = overview()
    assert read == 0 and sum(recording["events"] for recording in without["recordings"]) == without["events"] > 0
    assert run_memoir(tree, "summarize", capture).returncode == 0
    summaries = sorted(capture.glob("*.memoir-summary"))
    assert overview() == (without, len(summaries))
    summaries[0].unlink()
    summaries[-1].write_bytes(summaries[-1].read_bytes()[:-1])
    assert overview() == (without, len(summaries) - 2)


def of_ranks(report):
    return {process["rank"]: process for process in report["processes"]}


def test_torchrun(tree, tmp_path):
    done = launch(tree, tmp_path, TRAIN, *TORCHRUN, "train.py", "0")
    assert done.returncode == 0, done.stderr
    capture = tmp_path / "capture"
    assert files(capture) == [(0, 0), (1, 0)]  # torchrun's own process leaves none
    assert done.stderr.count("recorded, ") == 1
    assert f"memoir: 2 processes on {socket.gethostname()}, ranks 0-1 of 2\n" in done.stderr
    report = show(tree, capture, "--by", "rank")
    assert report["attempts"] == [{"restart": 0, "world_size": 2, "ranks": [0, 1], "missing_ranks": []}]
    ranks = {row["rank"]: row for row in report["ranks"]}
    assert sorted(ranks) == [0, 1] and all(row["peak_allocated_bytes"] > 0 for row in ranks.values())
    assert sum(row["allocated_bytes"] for row in ranks.values()) == sum(d["allocated_bytes"] for d in report["devices"])
    for rank in (0, 1):
        alone = counts(show(tree, capture, "--rank", str(rank)))
        assert alone["aten::addmm"] == 3 and alone.get("aten::neg", 0) == rank


def test_a_restart_appends_and_is_told_apart(tree, tmp_path):
    done = launch(tree, tmp_path, TRAIN, *TORCHRUN, "--max-restarts", "1", "train.py", "1")
    assert done.returncode == 0, done.stderr
    report = show(tree, tmp_path / "capture", "--by", "rank")
    assert [attempt["restart"] for attempt in report["attempts"]][-1] == 1
    assert report["attempts"][-1]["ranks"] == [0, 1]
    assert {"rank 0 restart 1", "rank 1 restart 1"} <= {row["name"] for row in report["ranks"]}
    assert "restart 1: ranks 0-1 of 2" in " ".join(done.stderr.replace("memoir:", "").split()), "the line may be broken within it"
    assert "rank 0 restart 1 cpu: peak" in run_memoir(tree, "show", tmp_path / "capture").stdout


def test_a_rank_that_dies_once(tree, tmp_path):
    """Its last events before it was killed are there, and both attempts are in the folder."""
    done = launch(tree, tmp_path, TRAIN, *TORCHRUN, "--max-restarts", "1", "train.py", "0", "1")
    assert done.returncode == 0, done.stderr
    capture = tmp_path / "capture"
    assert sorted(set(files(capture))) == [(0, 0), (0, 1), (1, 0), (1, 1)]  # the merged events are in a second part
    report = show(tree, capture)
    assert [(a["restart"], a["ranks"], a["missing_ranks"]) for a in report["attempts"]] == [(0, [0, 1], []), (1, [0, 1], [])]
    ends = {(process["rank"], process["restart"]): process["end"] for process in report["processes"]}
    assert ends[1, 0] == "merged" and ends[0, 1] == ends[1, 1] == "exited"
    steps = {(p["rank"], p["restart"]): p["events"] for p in report["processes"]}
    assert 0 < steps[1, 0] < steps[1, 1]
    assert counts(show(tree, capture))["aten::neg"] == 1  # rank 1 came to its end once
    overviews_are_equal(tree, capture)
    assert "restart 1: ranks 0-1 of 2" in " ".join(done.stderr.replace("memoir:", "").split()), "the line may be broken within it"


def test_a_missing_rank_is_named(tree, tmp_path):
    done = launch(tree, tmp_path, TRAIN, *TORCHRUN, "train.py", "0", options=("-q", "-o", "capture"))
    assert done.returncode == 0 and done.stderr.count("memoir:") == 0, done.stderr
    for name in os.listdir(tmp_path / "capture"):
        if name.startswith("r00001"):
            os.remove(tmp_path / "capture" / name)
    assert "rank 0 of 2, pid" in run_memoir(tree, tmp_path / "capture").stdout
    assert "rank 1 is missing" in run_memoir(tree, tmp_path / "capture").stdout.replace("\n", " ")
    assert show(tree, tmp_path / "capture")["attempts"][0]["missing_ranks"] == [1]


EXPLICIT = TRAIN.replace("torch.set_num_threads(1)", "import memoir; memoir.start(os.environ['CAPTURE'])")


def test_explicit_start_inside_ddp(tree, tmp_path):
    (tmp_path / "train.py").write_text(EXPLICIT)
    environment = {**PLAIN, "PYTHONPATH": str(tree / "lib/memoir/python"), "CAPTURE": str(tmp_path / "capture")}
    done = subprocess.run([*TORCHRUN, "train.py", "0"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "capture") == [(0, 0), (1, 0)]
    assert counts(show(tree, tmp_path / "capture"))["aten::addmm"] == 6


# Processes that the program starts by itself. The parent is no rank; the children's ranks are known once they have made their group.

STARTS = '''
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
torch.set_num_threads(1)
def train(rank, store):   # a file: a port that was free a moment ago may be another test's by now
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    model(torch.ones(2, 8)).sum().backward()
    if rank == 1: torch.neg(torch.ones(10))
    dist.destroy_process_group()
if __name__ == "__main__":
    torch.mul(torch.ones(3), 2)
    how, store = sys.argv[1], os.path.abspath("store")
    if how == "spawn": mp.spawn(train, (store,), nprocs=2)
    elif how == "start_processes by fork": mp.start_processes(train, (store,), nprocs=2, start_method="fork")
    else:
        context = mp.get_context(how)
        children = [context.Process(target=train, args=(rank, store)) for rank in range(2)]
        for child in children: child.start()
        for child in children: child.join(); assert child.exitcode == 0
'''


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("how", ["spawn", "start_processes by fork", "fork", "forkserver"])
def test_children_that_become_ranks(tree, tmp_path, how):
    done = launch(tree, tmp_path, STARTS, sys.executable, "train.py", how)
    assert done.returncode == 0, done.stderr
    report = show(tree, tmp_path / "capture", "--by", "rank")
    ranks = {row["rank"]: row for row in report["ranks"]}
    assert sorted(ranks, key=str) == [0, 1, None], done.stderr
    assert {process["rank_source"] for process in report["processes"]} == {"none", "torch.distributed"}
    assert report["attempts"] == [{"restart": 0, "world_size": 2, "ranks": [0, 1], "missing_ranks": []}]
    assert "ranks 0-1 of 2; 1 of the processes has no rank" in done.stderr
    everything = counts(show(tree, tmp_path / "capture"))
    assert everything["aten::addmm"] == 2 and everything["aten::neg"] == 1 and everything["aten::mul.Tensor"] == 1
    one = show(tree, tmp_path / "capture", "--rank", "1")
    assert counts(one)["aten::neg"] == 1 and counts(one)["aten::addmm"] == 1
    # The model was made before it trained; it is recorded all the same, for its process group came first.
    assert counts(one)["aten::uniform_"] == 2
    assert {p["end"] for p in report["processes"]} == {"exited"}


LOADERS = '''
import sys, torch
torch.set_num_threads(1)
class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.sin(torch.full((4,), float(i)))
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1])
    model = torch.nn.Linear(4, 1)
    for batch in loader: model(batch).sum().backward()
'''


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_data_loaders_workers_leave_nothing(tree, tmp_path, how):
    done = launch(tree, tmp_path, LOADERS, sys.executable, "train.py", how)
    assert done.returncode == 0, done.stderr
    report = show(tree, tmp_path / "capture")
    assert len(report["processes"]) == 1 == len(files(tmp_path / "capture"))
    assert counts(report)["aten::addmm"] == 4 and "aten::sin" not in counts(report)


CHILDREN = '''
import ctypes, os, subprocess, sys, torch
torch.set_num_threads(1)
w = torch.ones(3, requires_grad=True)
def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
def trains():
    torch.mul(w, 1)                       # before it trained: nobody's
    (w * 2).sum().backward()
    torch.neg(w)
    child(lambda: [(w * 2).sum().backward(), torch.abs(w)])
def steps():
    optimizer = torch.optim.SGD([w]); w.grad = torch.ones(3)
    optimizer.step(); torch.sin(w)
child(trains); child(steps); child(lambda: torch.cos(w))
subprocess.run(["true"], check=True)      # vfork
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
if ctypes.CDLL(None)._Fork() == 0: os._exit(0)
os.wait()
torch.exp(w)
'''


def test_forked_children_that_train_have_files_of_their_own(tree, tmp_path):
    done = launch(tree, tmp_path, CHILDREN, sys.executable, "train.py")
    assert done.returncode == 0, done.stderr
    report = show(tree, tmp_path / "capture")
    found = counts(report)
    assert len(report["processes"]) == 4 and found["aten::exp"] == 1 and "aten::cos" not in found
    assert found["aten::neg"] == 1 and found["aten::abs"] == 1 and found["aten::sin"] == 1
    pids = {process["pid"]: process["forked_from"] for process in report["processes"]}
    parent = next(pid for pid, forked_from in pids.items() if forked_from is None)
    assert sorted(pids.values(), key=str).count(parent) == 2 and len(set(pids.values())) == 3
    assert "forked child was not recorded, because it did not train" in done.stderr
    # os._exit: nothing is lost all the same
    assert [p["end"] for p in report["processes"] if p["pid"] != parent] == ["merged"] * 3


ONLY_IMPORTS = '''
import subprocess, sys, torch
subprocess.run([sys.executable, "-c", "import torch"], check=True)
torch.ones(3)
'''


def test_processes_that_only_import_torch_are_no_noise(tree, tmp_path):
    done = launch(tree, tmp_path, ONLY_IMPORTS, sys.executable, "train.py")
    assert done.returncode == 0 and len(files(tmp_path / "capture")) == 1
    assert "processes" not in done.stderr
    done = launch(tree, tmp_path, "import torch", sys.executable, "train.py", options=("-o", "nothing"))
    assert done.stderr.startswith("memoir: nothing was recorded: no process imported torch and ran an operator. ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "nothing").exists()


STARTS_ANOTHER = '''
import subprocess, sys, torch
torch.abs(torch.ones(3))
subprocess.run([sys.executable, "-c", "import torch; torch.neg(torch.ones(3))"], check=True)
'''


def test_where_nobody_chose_a_folder_there_is_one_all_the_same(tree, tmp_path):
    (tmp_path / "train.py").write_text(STARTS_ANOTHER)
    environment = {**PLAIN, "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_ENABLE": "1"}
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    capture, = tmp_path.glob("memoir-*")
    found = counts(show(tree, capture))
    assert found["aten::abs"] == found["aten::neg"] == 1


# Launchers, by the variables that they set.

LAUNCHERS = {
    "Slurm": {"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"},
    "OpenMPI": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
    "PMI": {"PMI_RANK": "1", "PMI_SIZE": "2"},
    "PMIx": {"PMIX_RANK": "1"},
    "Ray": {"RAY_JOB_ID": "01000000", "RANK": "1", "WORLD_SIZE": "2"},
    "torchrun": {"RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "x", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"},
    "MEMOIR_RANK": {"MEMOIR_RANK": "1"},
}
ONE_OPERATOR = "import torch; torch.ones(3)"


def test_ranks_of_many_leave_summaries(tree, tmp_path):
    """One host's two ranks of twelve: what each `memoir run` leaves is what `memoir summarize` makes. Of two ranks of two: nothing."""
    capture = tmp_path / "capture"
    for rank, options in ((4, ()), (5, ("-q",))):
        done = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", options=("-o", "capture", *options),
                      environment={**PLAIN, "RANK": str(rank), "WORLD_SIZE": "12"})
        assert (done.returncode, done.stderr) == (0, ""), "rank 0's memoir speaks"
        assert len(list(capture.glob(f"r{rank:05}.*.memoir-summary"))) == 1
    left = {file.name: file.read_bytes() for file in capture.glob("*.memoir-summary")}
    assert len(left) == 2 and "2 were there" in run_memoir(tree, "summarize", capture).stderr
    assert run_memoir(tree, "summarize", "--again", capture).returncode == 0
    assert {file.name: file.read_bytes() for file in capture.glob("*.memoir-summary")} == left
    assert show(tree, capture, "--by", "job")["summaries"] == {"read": 2, "lacking": [], "unreadable": []}
    launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", options=("-o", "small"), environment={**PLAIN, "RANK": "1", "WORLD_SIZE": "2"})
    assert list((tmp_path / "small").glob("*.memoir")) and not list((tmp_path / "small").glob("*.memoir-summary"))


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("source", LAUNCHERS)
def test_ranks_of_launchers(tree, tmp_path, source):
    done = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", environment={**PLAIN, **LAUNCHERS[source]})
    assert done.returncode == 0
    (process,) = show(tree, tmp_path / "capture")["processes"]
    assert (process["rank"], process["rank_source"], process["rank_conflict"]) == (1, source, "")
    assert process["world_size"] == (0 if source in ("PMIx", "MEMOIR_RANK") else 2)
    if source != "MEMOIR_RANK":
        assert done.stderr == ""  # rank 0's memoir speaks


def test_ray_names_its_ranks_late(tree, tmp_path):
    late = "import os, torch; torch.ones(3); os.environ.update(RANK='3', WORLD_SIZE='4', RAY_JOB_ID='1')"
    launch(tree, tmp_path, late, sys.executable, "train.py")
    (process,) = show(tree, tmp_path / "capture")["processes"]
    assert (process["rank"], process["world_size"], process["rank_source"]) == (3, 4, "Ray")
    assert "rank 3 of 4, pid" in run_memoir(tree, tmp_path / "capture").stdout.replace("\n", " ")


def test_contradicting_variables_are_one_line(tree, tmp_path):
    environment = {**PLAIN, "RANK": "0", "WORLD_SIZE": "2", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", "MEMOIR_OUTPT": "x"}
    done = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", options=("-q", "-o", "capture"), environment=environment)
    line = "RANK=0 (torchrun) and SLURM_PROCID=1 (Slurm) contradict each other: recorded as rank 0; MEMOIR_RANK=N decides"
    assert show(tree, tmp_path / "capture")["processes"][0]["rank_conflict"] == line
    assert line in " ".join(run_memoir(tree, tmp_path / "capture").stdout.split())
    done = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", options=("-o", "again"), environment=environment)
    assert done.returncode == 0 and done.stderr.count("unknown variable") == 2  # memoir run's and the recorder's
    silent = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", options=("-o", "silent"),
                    environment={**environment, "RANK": "1", "SLURM_PROCID": "0"})
    assert silent.stderr.count("contradict") == 0  # rank 0 would say it
    assert "RANK=1 (torchrun) and SLURM_PROCID=0 (Slurm) contradict" in show(tree, tmp_path / "silent")["processes"][0]["rank_conflict"]


def test_a_rank_that_is_no_number_is_one_line(tree, tmp_path):
    line = "RANK=abc (torchrun) is not a number: ignored; MEMOIR_RANK=N sets the rank"
    done = launch(tree, tmp_path, STARTS, sys.executable, "train.py", "spawn", options=("-o", "capture"), environment={**PLAIN, "RANK": "abc"})
    assert done.returncode == 0 and done.stderr.splitlines().count(f"memoir: {line}") == 1, done.stderr
    report = show(tree, tmp_path / "capture")
    assert {process["rank_conflict"] for process in report["processes"]} == {line}
    assert sorted((p["rank"], p["rank_source"]) for p in report["processes"] if p["rank"] is not None) == [(0, "torch.distributed"), (1, "torch.distributed")]


GROUP_SAYS_OTHERWISE = '''
import torch, torch.distributed as dist
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.ones(3)
dist.destroy_process_group()
'''


def test_torch_distributed_is_believed_unless_its_group_is_a_part(tree, tmp_path):
    for variables, rank, conflict in (({"RANK": "5", "WORLD_SIZE": "1"}, 0, True), ({"RANK": "5", "WORLD_SIZE": "8"}, 5, False)):
        folder = f"capture{rank}"
        done = launch(tree, tmp_path, GROUP_SAYS_OTHERWISE, sys.executable, "train.py", options=("-q", "-o", folder), environment={**PLAIN, **variables})
        assert done.returncode == 0, done.stderr
        (process,) = show(tree, tmp_path / folder)["processes"]
        assert process["rank"] == rank and ("contradict" in process["rank_conflict"]) == conflict


KILLED = '''
import os, signal, torch, torch.distributed as dist
torch.ones(3)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.neg(torch.ones(3))
os.kill(os.getpid(), signal.SIGKILL)
'''


def test_a_rank_that_is_killed_right_after_it_is_known(tree, tmp_path):
    launch(tree, tmp_path, KILLED, sys.executable, "train.py", options=("-q", "-o", "capture"))
    report = show(tree, tmp_path / "capture")
    assert report["processes"][0]["rank_source"] == "torch.distributed" and counts(report)["aten::neg"] == 1


def test_a_cause_that_silent_ranks_have_is_said_once(tree, tmp_path):
    environment = {**PLAIN, "RANK": "1", "WORLD_SIZE": "2", "MEMOIR_RING_DIR": str(tmp_path / "nowhere")}
    done = launch(tree, tmp_path, ONE_OPERATOR, sys.executable, "train.py", environment=environment)
    assert done.returncode == 0 and done.stderr.count("memoir: not recording: ") == 1 and "nowhere" in done.stderr
