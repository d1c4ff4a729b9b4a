"""A program with its own module `memoir` runs as without Memoir, and is recorded."""

import os
import subprocess
import sys

import pytest

from recording import counts, record, run_memoir, show

MODULE = "WHOSE = 'mine'\n"
USED = "import torch; torch.add(torch.ones(3), 1); import memoir; print(memoir.WHOSE, memoir.__file__)"


def is_recorded(tree, capture, done, printed):
    assert (done.returncode, done.stdout, done.stderr) == (0, printed + "\n", "")
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1


@pytest.mark.parametrize("program", [USED, "import memoir; assert memoir.WHOSE; " + USED, "import torch, sys; torch.add(torch.ones(3), 1); print('memoir' in sys.modules)"])
def test_a_file_beside_the_script(tree, tmp_path, program):
    (tmp_path / "memoir.py").write_text(MODULE)
    capture, done = record(tree, tmp_path, program)
    is_recorded(tree, capture, done, f"mine {tmp_path}/memoir.py" if program.endswith(USED) else "False")


def project(site):
    """A project named memoir as pip installs one."""
    (site / "memoir").mkdir(parents=True)
    (site / "memoir" / "__init__.py").write_text(MODULE + "from memoir.part import PART\n")
    (site / "memoir" / "part.py").write_text("import memoir\nPART = memoir.WHOSE\n")
    (site / "memoir-7.5.dist-info").mkdir()
    (site / "memoir-7.5.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: memoir\nVersion: 7.5\n")
    return site


@pytest.mark.parametrize("first", ["", "import memoir; ", "import memoir.part; "])
def test_an_installed_project_of_that_name(tree, tmp_path, first):
    program = first + USED + "; import importlib.metadata as m; print(memoir.part.PART, memoir.part.__name__, m.version('memoir'))"
    site = project(tmp_path / "site")
    capture, done = record(tree, tmp_path, program, env={**os.environ, "PYTHONPATH": str(site)})
    is_recorded(tree, capture, done, f"mine {site}/memoir/__init__.py\nmine memoir.part 7.5")


def test_an_editable_install_of_a_project_of_that_name(tree, tmp_path):
    """setuptools finds it by a finder behind Python's own."""
    site = project(tmp_path / "elsewhere")
    finder = f"""
import importlib.util, sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "memoir":
            return importlib.util.spec_from_file_location(name, {str(site / 'memoir/__init__.py')!r}, submodule_search_locations=[{str(site / 'memoir')!r}])
sys.meta_path.append(Finder)
"""
    capture, done = record(tree, tmp_path, finder + USED)
    is_recorded(tree, capture, done, f"mine {site}/memoir/__init__.py")


def test_an_error_in_that_module_is_the_programs(tree, tmp_path):
    site = project(tmp_path / "site")
    (site / "memoir" / "part.py").write_text("raise ValueError('broken')\n")
    _, done = record(tree, tmp_path, "import torch, sys; torch.ones(3)\ntry: import memoir\nexcept ValueError as error: print(error, 'memoir' in sys.modules)",
                     env={**os.environ, "PYTHONPATH": str(site)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "broken False\n", "")


def test_a_folder_without_code_is_no_module(tree, tmp_path):
    (tmp_path / "memoir").mkdir()
    _, done = record(tree, tmp_path, "import torch, memoir; memoir.mark('here'); print(memoir.is_recording())")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_what_that_module_holds_is_found(tree, tmp_path):
    (tmp_path / "memoir.py").write_text("kept = []\n")
    program = """
import torch, memoir
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(12):
    loss = model(torch.ones(64, 64))
    memoir.kept.append(loss.detach().clone())
    loss.sum().backward()
    optimizer.step()
"""
    capture, done = record(tree, tmp_path, program, options=["--holders"])
    assert done.returncode == 0, done.stderr
    said = run_memoir(tree, "check", "leaks", capture)
    assert said.returncode == 3 and "kept[…] (list, global of memoir)" in said.stdout, said.stdout


def test_pytest_beside_such_a_file(tree, tmp_path):
    (tmp_path / "memoir.py").write_text(MODULE)
    (tmp_path / "test_it.py").write_text("import memoir\ndef test_it(memoir_capture): assert memoir.WHOSE == 'mine'\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(tree / "lib/memoir/python")}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_beside_such_a_file(tree, tmp_path):
    (tmp_path / "memoir.py").write_text("raise SystemExit('not this one')\n")
    done = subprocess.run([sys.executable, "-c", "from _torch_memoir._command import main; import sys; sys.argv[1:] = ['--version']; main()"], cwd=tmp_path,
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tree / "lib/memoir/python")}, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("memoir "), done.stderr
