"""Environments with one torch each, build/torches/X.Y, for ./dev compat and ./dev wheel.

A whole one is enough for `import torch` and the tests: 4 to 6 GB. A part is enough to compile and link a tracker, with torch's headers and three of its
libraries: 0.6 GB. uv makes them from PyPI: it needs half a minute for a whole one, and downloads nothing to find out which packages belong together. Its cache
is inside build/torches and goes when an environment is made: files are hard links, so it would only keep what was removed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "torches"
CACHE = FOLDER / f"cache-{os.getpid()}"
UV = ["--require-hashes", "-r", str(ROOT / "setup" / "requirements-uv.txt")]   # for pip

# The last release of each minor that there is a tracker for: what `all` means.
LAST = ("2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")

# Requirements of torch that are loaded late: neither its import nor the tests need them. 0.7 GB.
LATE = ("triton", "cuda-bindings", "cuda-pathfinder", "nvidia-cusolver", "nvidia-nvtx", "nvidia-cuda-cccl")

# Libraries that a tracker is linked with.
LIBRARIES = ("libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch.so")


def run(log, *command):
    """Runs `command`, its output appended to the file `log`; what it printed on stdout is returned."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=os.environ | {"UV_CACHE_DIR": str(CACHE), "UV_NO_PROGRESS": "1"})
    with open(log, "a") as file:
        file.write(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        raise OSError((done.stderr.strip() or "failed").splitlines()[-1][:200])
    return done.stdout


def uv(log):
    program = FOLDER / "uv" / "bin" / "uv"
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        run(log, sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", FOLDER / "uv", *UV)
    return program


def minor(version):
    return ".".join(version.split(".")[:2])


def interpreter_of(version):
    """Returns the interpreter of the environment in build/torches, which may not exist yet."""
    return FOLDER / minor(version) / "bin" / "python"


def torch_in(folder):
    """Returns the folder of torch in this environment. None if it has no torch."""
    return next(folder.glob("lib/python3*/site-packages/torch"), None)


def version_in(folder):
    """Which torch an environment has ("2.9.1"), by its file alone; None: none."""
    torch = torch_in(folder)
    found = torch and re.search(r"__version__ = '([0-9.]+)", (torch / "version.py").read_text())
    return found.group(1) if found else None


def of_tests(version):
    """Returns the interpreter of the environment of ./dev test with this torch. None if there is no such environment."""
    for name in ("venv", f"venv-{minor(version)}"):
        if version_in(ROOT / "build" / name) == version:
            return ROOT / "build" / name / "bin" / "python"
    return None


def make(version, interpreter, log, packages):
    """A new environment with `packages`, NAME==VERSION each; its interpreter."""
    python = interpreter_of(version)
    shutil.rmtree(python.parents[1], ignore_errors=True)
    run(log, interpreter, "-m", "venv", "--without-pip", python.parents[1])
    add(python, log, packages)
    return python


def add(python, log, packages):
    try:
        run(log, uv(log), "pip", "install", "-q", "--python", python, "--no-deps", *packages)
    finally:
        shutil.rmtree(CACHE, ignore_errors=True)


def make_whole(version, interpreter, log):
    """With what `import torch` and the tests need, as it was left by --keep or new: (its interpreter, what was left out)."""
    wanted = FOLDER / f"wanted-{version}.txt"   # another one may be made at the same time
    wanted.parent.mkdir(parents=True, exist_ok=True)
    wanted.write_text(f"torch=={version}\nnumpy\npytest\nsetuptools\n")
    found = run(log, uv(log), "pip", "compile", "-q", "--no-annotate", "--no-header", "--python", interpreter, wanted).split("\n")
    wanted.unlink()
    packages = [line.split(";")[0].strip() for line in found if "==" in line]
    late = [package for package in packages if package.startswith(LATE)]
    mark = interpreter_of(version).parents[1] / "whole"
    state = "\n".join([run(log, interpreter, "--version"), *packages])
    if not mark.exists() or mark.read_text() != state:
        make(version, interpreter, log, [package for package in packages if package not in late])
        mark.write_text(state)
    return interpreter_of(version), late


def make_part(version, interpreter, log):
    """With what a tracker is compiled and linked with."""
    python = make(version, interpreter, log, [f"torch=={version}"])
    reduce(python.parents[1])
    return python


def reduce(folder):
    """Leaves of an environment what a tracker is compiled and linked with."""
    torch = torch_in(folder)
    (folder / "whole").unlink(missing_ok=True)
    for path in torch.parent.iterdir() if torch else ():
        if path != torch and not path.match("torch-*.dist-info"):   # the bill of materials reads whose headers these are
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in torch.iterdir() if torch else ():
        if path.is_dir() and path.name not in ("include", "lib"):
            shutil.rmtree(path)
    for path in (torch / "lib").iterdir() if torch else ():
        if path.name not in LIBRARIES:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def versions_of(words):
    """Expands a list of versions, minors or the word `all` to versions, each once."""
    last = {minor(version): version for version in LAST}
    found = list(dict.fromkeys(version for word in words for version in (LAST if word == "all" else (last.get(word, word),))))
    for version in found:
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            raise ValueError(f"{version} is no version of torch; these are known: {', '.join(LAST)}")
    return found


def chosen(words, interpreter, log):
    """{minor: interpreter} of what ./dev wheel --torches names; those that are missing are made."""
    found = {}
    for version in versions_of(words):
        python = of_tests(version) or interpreter_of(version)
        if version_in(python.parents[1]) != version:
            print(f"- torch {version}", flush=True)
            make_part(version, interpreter, log)
        found[minor(version)] = python
    return found


def existing():
    """{minor: interpreter} of the environments in build/torches, whole or in part."""
    found = {}
    for folder in sorted(FOLDER.glob("*.*"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)]):
        if version_in(folder) and (folder / "bin" / "python").exists():
            found[minor(version_in(folder))] = folder / "bin" / "python"
    return found
