"""`pip install .` gives the command and the package: built as pip builds it, into an environment of its own."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = "import torch\nkept = torch.ones(1000) + 1\n"


def run(*command, **options):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MEMOIR_"))}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=clean, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment that sees the torch of this one, with Memoir installed into it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "torch-of-the-builder.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(python, "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", ROOT)
    return folder


def test_the_command(environment):
    assert (ROOT / "VERSION").read_text().strip() in run(environment / "bin" / "memoir", "--version")


def test_python_finds_the_package(environment):
    where = run(environment / "bin" / "python", "-c", "import memoir; print(memoir.__file__)", cwd=environment)
    assert pathlib.Path(where.strip()).is_relative_to(environment)


def test_records_a_program_of_the_same_environment(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", environment / "bin" / "python", script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")


def test_records_a_program_of_another_environment(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")


def test_records_with_the_variable_alone(environment, tmp_path):
    """No `memoir run`: torch finds the package by its entry point."""
    script = tmp_path / "script.py"
    script.write_text("import os\nos.environ['MEMOIR_ENABLE'] = '1'\n" + f"os.environ['MEMOIR_OUTPUT'] = {str(tmp_path / 'capture')!r}\n" + SCRIPT)
    run(environment / "bin" / "python", script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")
