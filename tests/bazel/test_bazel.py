"""The tree as Bazel sees it: every target loads, one small test is built and passes, and a missing package is named in one line."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAZEL = shutil.which("bazel")

pytestmark = pytest.mark.skipif(not BAZEL, reason="no bazel here (Debian 12: apt-get install bazel-bootstrap)")


@pytest.fixture(scope="module")
def bazel():
    """Runs a command of Bazel in the source tree, with a separate server, which ends with these tests."""
    server = [BAZEL, f"--output_user_root={os.environ.get('BAZEL_OUTPUT', ROOT / 'build/bazel-tests')}", "--host_jvm_args=-Xmx2g"]

    def run(command, *arguments, **environment):
        whole = [*server, command, "--color=no", "--noshow_progress", "--jobs=1", *arguments]
        return subprocess.run(whole, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=800)

    yield run
    subprocess.run([*server, "shutdown"], cwd=ROOT, capture_output=True)


def test_every_target_is_analyzed(bazel):
    done = bazel("build", "--nobuild", "//...")
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"Analyzed (\d+) targets", done.stderr)[1]) > 200, done.stderr


def test_a_small_test_passes(bazel):
    done = bazel("test", "//:tests/interpose/tick_test")
    assert done.returncode == 0 and "1 test passes" in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_missing_package_is_named(bazel, tmp_path):
    """As on a machine without protozero's headers."""
    compiler = tmp_path / "c++"
    compiler.write_text('#!/bin/sh\ninput=$(cat)\ncase "$input" in *protozero*) exit 1 ;; esac\nprintf "%s\\n" "$input" | /usr/bin/c++ "$@"\n')
    compiler.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = bazel("build", "--nobuild", "//:writer", PATH=path)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "Memoir needs" in line]
    assert said == ["Error in fail: Memoir needs protozero/pbf_writer.hpp, which is not here: apt-get install libprotozero-dev"], done.stderr
    assert bazel("build", "--nobuild", "//:libmemoir_interpose.so", PATH=path).returncode == 0  # who does not need it is not stopped


def test_without_torch_the_rest_is_there(bazel, tmp_path):
    nowhere = str(tmp_path / "python")
    done = bazel("build", "--nobuild", "//...", MEMOIR_PYTHON=nowhere)
    assert done.returncode == 0, done.stderr
    done = bazel("build", "--nobuild", "//:hooks", MEMOIR_PYTHON=nowhere)
    assert done.returncode != 0
    assert "needs_a_python_with_torch_see_docs_packaging_bazel_md" in done.stderr, done.stderr
