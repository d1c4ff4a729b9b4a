"""The scripts of examples/cluster for Slurm, Slurm with Pyxis and mpirun: each rank comes out as the launcher numbered it.

Slurm is not installed: stand_ins/srun sets its variables and, for Pyxis, lays the container. mpirun is Open MPI's where it is installed.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pods
import pytest
from manifests import EXAMPLES

STAND_INS = pathlib.Path(__file__).resolve().parent / "stand_ins"
# Each rank prints one string. Unbuffered Python writes each argument of print() separately, so the lines of two ranks could mix.
PROGRAM = "import os, torch\ntorch.ones(1000 * (1 + int(os.environ['{rank}'])))\nprint('ran ' + os.environ['{rank}'] + '\\n', end='', flush=True)\n"


def launch(script, tree, folder, *arguments, path=STAND_INS, rank="RANK", **variables):
    """The script in `folder`, with a program that allocates a size by which its rank is known again."""
    (folder / "train.py").write_text(PROGRAM.format(rank=rank))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "PMI", "MEMOIR_", "RANK"))}
    environment = {**kept, "PATH": f"{path}:{pods.PYTHON.parent}:/usr/local/bin:/usr/bin:/bin", "TREE": str(tree), "TEST_FOLDER": str(folder),
                   "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run([EXAMPLES / script, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def ranks_and_sizes(tree, capture):
    """{rank: what its program allocated}"""
    found = {}
    for rank in range(2):
        done = subprocess.run([tree / "bin" / "memoir", "show", "--json", "--rank", str(rank), capture], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found[rank] = {row["name"]: row["allocated_bytes"] for row in json.loads(done.stdout)["operators"]}["aten::ones"]
    return found


WANTED = {0: 4000, 1: 8000}
JOB = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "localhost", "SLURM_NTASKS": "2", "SLURM_NNODES": "1"}


def test_slurm(tree, tmp_path):
    done = launch("slurm.sh", tree, tmp_path, **JOB)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["ran 0", "ran 1"]), done.stderr
    assert ranks_and_sizes(tree, tmp_path / "memoir-slurm-4711.0") == WANTED
    assert done.stderr.count("memoir: train.py, torch") == 1, "rank 0 speaks for all"


def test_slurm_with_pyxis(tree, tmp_path):
    tmp_path.chmod(0o755)  # the user in the container is another one
    pods.volume_folder(tmp_path / "captures")
    probe = pods.run(tmp_path, {"image": pods.IMAGE, "environment": {}, "command": ["/usr/bin/true"]})
    if probe.returncode == 125:
        pytest.skip(f"no containers without an engine here: {probe.stderr.strip()}")
    done = launch("slurm_pyxis.sh", tree, tmp_path, **{**JOB, "SLURM_NTASKS": "1", "SLURM_GPUS_ON_NODE": "2"})
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["ran 0", "ran 1"]), done.stderr
    assert ranks_and_sizes(tree, tmp_path / "captures" / "train-4711") == WANTED


MPI = {"stand_in": STAND_INS, "open_mpi": pathlib.Path(shutil.which("mpirun") or "/").parent}


@pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in MPI.items()])
def test_mpirun(tree, tmp_path, path):
    if not (path / "mpirun").exists():
        pytest.skip("Open MPI is not installed (Debian's openmpi-bin)")
    options = [] if path == STAND_INS else ["--oversubscribe"]
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = launch("mpirun.sh", tree, tmp_path, 2, *options, path=path, rank="OMPI_COMM_WORLD_RANK", **variables)
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["ran 0", "ran 1"]), done.stderr
    assert ranks_and_sizes(tree, tmp_path / "mpi-train") == WANTED
    assert done.stderr.count("memoir: train.py, torch") == 1
