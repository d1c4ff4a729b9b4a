"""Sample captures, a job of four ranks on the simulated GPU, and their tables."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

QUERIES = pathlib.Path(__file__).resolve().parents[2] / "queries"
PROGRAM = pathlib.Path(__file__).resolve().parent / "job_of_four.py"
SAMPLES = ("trained", "cuda", "kernels", "ranks", "folded", "many_ranks", "job")


def run(tree, *arguments, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMOIR_")} | options.pop("environment", {})
    return subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, env=environment, **options)


def document(tree, *arguments):
    done = run(tree, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([os.environ["MEMOIR_WRITE_SAMPLES"], folder], check=True)
    return folder


@pytest.fixture(scope="session")
def job(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job") / "capture"
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4", PROGRAM)
    done = run(tree, "run", "-q", "-o", folder, "--simulate", "h100", "--sim-devices", "4", "--", *torchrun)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def captures(samples, job):
    return {**{name: samples / name for name in SAMPLES}, "four": job}


@pytest.fixture(scope="session")
def tables(tree, captures, tmp_path_factory):
    """The folder of tables of each of them."""
    folder = tmp_path_factory.mktemp("tables")
    for name, capture in captures.items():
        done = run(tree, "export", "parquet", capture, "-o", f"{folder / name}/")
        assert done.returncode == 0, done.stderr
    return folder
