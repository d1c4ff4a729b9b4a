"""Tests for aarch64 in qemu: the cross-compiled programs, and the wheel's tree. `./dev aarch64` installs missing parts.

qemu changes neither the order of memory accesses nor the page size, as a machine may; docs/packaging/compatibility.md lists what therefore stays untested.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = ROOT / "build" / "aarch64-system"
sys.path.insert(0, str(ROOT / "setup"))
import aarch64  # noqa: E402

# The torch whose aarch64 wheel starts in qemu, because it has no CUDA; and the interpreter for which the programs of tests/libtorch are linked.
RUNS, WITH_CUDA = "2.8", "2.11"
MISSING = aarch64.missing() or [str(path) for path in (SYSTEM / "root.ready", *(SYSTEM / f"torch-{minor}" for minor in (RUNS, WITH_CUDA))) if not path.exists()]
# The pure Python packages that `import torch` imports.
PURE = ("filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "sympy", "typing_extensions.py")


def pytest_collection_modifyitems(items):
    if MISSING:
        for item in items:
            if pathlib.Path(item.path).parent == pathlib.Path(__file__).parent:
                item.add_marker(pytest.mark.skip(reason=f"there is no {' or '.join(MISSING)}: ./dev aarch64 brings it"))


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def qemu(*command, root=SYSTEM / "root"):
    return ["qemu-aarch64", "-L", str(root), *map(str, command)]


def emulated(*command, **options):
    return run(*qemu(*command), **options)


def startable(path, *command):
    """Writes a script that starts `command` in qemu: what runs in qemu can start scripts of this machine's, and no program of aarch64's. LD_PRELOAD is
    the emulated program's."""
    environment = '${LD_PRELOAD:+-E "LD_PRELOAD=$LD_PRELOAD"}'
    line = " ".join(f"'{part}'" for part in qemu()) + f" {environment} " + " ".join(f"'{part}'" for part in command)
    path.write_text(f"#!/bin/sh\nexec env -u LD_PRELOAD {line} \"$@\"\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def build():
    """build(target, ...): the folder of the build for aarch64, with these."""
    folder = ROOT / "build" / "aarch64"
    run("cmake", "--preset", "aarch64", cwd=ROOT)

    def build(*targets):
        run("ninja", "-C", folder, *targets)
        return folder

    return build


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """With trackers for a torch without and one with CUDA; compiled as the tests, so that a compiler cache has the objects. AARCH64_WHEEL: one that is there."""
    if "AARCH64_WHEEL" in os.environ:
        return pathlib.Path(os.environ["AARCH64_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, ROOT / "setup" / "aarch64.py", "wheel", "--torches", f"{RUNS},{WITH_CUDA}", "--flags-of-tests", "-o", folder)
    wheel, = folder.iterdir()
    return wheel


@pytest.fixture(scope="session")
def aarch64_tree(wheel, tmp_path_factory):
    """The tree inside the wheel."""
    folder = tmp_path_factory.mktemp("content")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    tree = folder / "memoir" / "_tree"
    for program in (tree / "bin" / "memoir", *(tree / "libexec" / "memoir").iterdir()):
        program.chmod(0o755)
    return tree


@pytest.fixture(scope="session")
def aarch64_torch():
    """The folder of torch RUNS, for aarch64."""
    return aarch64.torches.torch_in(aarch64.environment_of(RUNS))


@pytest.fixture(scope="session")
def aarch64_python(aarch64_torch, tmp_path_factory):
    """A script that starts Debian's Python in qemu, with torch and what `import torch` imports."""
    folder = tmp_path_factory.mktemp("aarch64_python")
    packages = folder / "packages"
    packages.mkdir()
    here = pathlib.Path(run(ROOT / "build" / "venv" / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in PURE:
        (packages / name).symlink_to(here / name)
    for path in aarch64_torch.parent.iterdir():
        if path.name.startswith(("torch", "functorch")):
            (packages / path.name).symlink_to(path)
    interpreter = (SYSTEM / "root" / "usr" / "bin" / "python3").resolve()
    assert f"cp{interpreter.name.removeprefix('python').replace('.', '')}" in (next(packages.glob("torch-*.dist-info")) / "WHEEL").read_text(), \
        f"torch was downloaded for the Python that made {SYSTEM}, and {interpreter.name} is what runs there: run ./dev with a python3 of that version"
    script = startable(folder / "python3", interpreter)
    script.write_text(script.read_text().replace("exec env", f"export PYTHONPATH='{packages}'\"${{PYTHONPATH:+:$PYTHONPATH}}\"\nexec env", 1))
    return script


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    run(os.environ.get("MEMOIR_WRITE_SAMPLES") or ROOT / "build" / "dev" / "tests" / "golden" / "memoir_write_samples", folder)
    return folder
