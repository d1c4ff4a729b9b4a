"""The schema compiled for Python, the example that reads captures, and the program that it must agree with."""

import importlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "read_capture.py"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The folder of capture_pb2.py and symbols_pb2.py, made as the example's first lines say."""
    folder = tmp_path_factory.mktemp("schema")
    schemas = ROOT / "proto" / "memoir" / "v1"
    subprocess.run([os.environ.get("MEMOIR_PROTOC", "protoc"), "-I", schemas, f"--python_out={folder}", "capture.proto", "symbols.proto"], check=True)
    return folder


@pytest.fixture(scope="session")
def schema(compiled):
    sys.path.append(str(compiled))
    return importlib.import_module("capture_pb2")


@pytest.fixture(scope="session")
def run_example(compiled):
    """run_example(arguments): the finished process. It finds the schema, and nothing of Memoir's own."""
    paths = os.pathsep.join([str(compiled), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run_example(*arguments):
        return subprocess.run([sys.executable, EXAMPLE, *arguments], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=300)

    return run_example


@pytest.fixture(scope="session")
def read(run_example):
    """read(capture): returns the example's output."""
    def read(capture):
        done = run_example("--json", capture)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return read


@pytest.fixture(scope="session")
def show(tree):
    def show(capture):
        done = subprocess.run([tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return show


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([os.environ["MEMOIR_WRITE_SAMPLES"], folder], check=True)
    return folder
