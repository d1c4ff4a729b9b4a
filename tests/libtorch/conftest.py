"""Helpers shared with tests/integration, and the programs that CMake built for the interpreter's torch."""

import os
import pathlib
import sys

import pytest
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

MINOR = ".".join(torch.__version__.split(".")[:2])


@pytest.fixture(scope="session")
def built(tree):
    """built(name): a program or library of tests/libtorch for this torch, or for any; LIBTORCH_PROGRAMS names the folder of another build."""
    folder = pathlib.Path(os.environ.get("LIBTORCH_PROGRAMS") or tree.parent / "tests" / "libtorch")

    def built(name):
        path = folder / name if (folder / name).exists() else folder / f"torch{MINOR}" / name
        assert path.exists(), f"no {path}: build libtorch_programs, or name its folder in LIBTORCH_PROGRAMS"
        return path

    return built


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """("cpu" or "cuda", the name of that device in captures, options of `memoir run`)"""
    if request.param == "cuda" and not torch.version.cuda:
        pytest.skip("this torch has no CUDA half")
    if request.param == "cuda" and "WITHOUT_SIMULATION" in os.environ:   # setup/compat.py
        pytest.skip("the simulated device does not serve this torch")
    return (request.param, "cuda:0", ("--simulate", "h100")) if request.param == "cuda" else (request.param, "cpu", ())


@pytest.fixture(scope="session")
def clean():
    """clean(**variables): the environment without Memoir's."""

    def clean(**variables):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "LD_PRELOAD", "PYTHONPATH"))}
        return {**kept, **variables}

    return clean
