"""Installed programs start in a root folder that holds the C and C++ runtime and nothing else: no /proc, no locale, no shell."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

RUNTIME = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1")
SCRIPT = "import torch\nkept = torch.ones(1000) + 1\n"


def interpreter(program):
    """ld.so, as the program names it."""
    headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    return pathlib.Path(re.search(r"program interpreter: (.*)\]", headers).group(1))


def enter_command(root):
    """How to run something with `root` as its root folder, or a skip that says why not."""
    command = ["chroot", root] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot", root]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no program {command[0]}")
    done = subprocess.run([*command, "/memoir/bin/memoir", "--version"], capture_output=True, text=True)
    if re.search(r"chroot: cannot change root|unshare.*(failed|not permitted)", done.stderr):
        pytest.skip(f"may not change the root folder here: {done.stderr.strip()}")
    return command


@pytest.fixture(scope="module")
def bare(tree, record, tmp_path_factory):
    """run(*command): in the bare root, where the tree is /memoir and a capture /capture."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(tree, root / "memoir")
    loader = interpreter(tree / "bin" / "memoir")
    (root / loader.parent.relative_to("/")).mkdir(parents=True)
    shutil.copy(loader, root / loader.relative_to("/"))
    (root / "lib").mkdir(exist_ok=True)
    for name in RUNTIME:
        found = subprocess.run(["cc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        shutil.copy(found, root / "lib" / name)
    script = tmp_path_factory.mktemp("script") / "script.py"
    script.write_text(SCRIPT)
    done = record(root / "capture", script)
    assert done.returncode == 0, done.stderr
    enter = enter_command(root)
    return lambda *command: subprocess.run([*enter, *command], capture_output=True, text=True, env={})


def test_version(bare):
    done = bare("/memoir/bin/memoir", "--version")
    assert done.returncode == 0 and done.stdout.strip(), done


def test_shows_a_capture(bare):
    done = bare("/memoir/bin/memoir", "show", "/capture")
    assert done.returncode == 0 and "aten::ones" in done.stdout, done


def test_drain(bare):
    done = bare("/memoir/libexec/memoir/memoir-drain", "--help")
    assert done.returncode == 0 and "memoir-drain" in done.stdout + done.stderr, done


def test_the_root_is_bare(bare):
    """What proves the others: a program that needs more does not start there."""
    shown = bare("/bin/sh", "-c", "true")
    assert shown.returncode != 0
