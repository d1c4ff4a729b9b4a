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
    found = {name: shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") for name in ("chroot", "unshare")}
    if None in found.values():
        pytest.skip(f"chroot or unshare is not installed: {found}")
    command = [found["chroot"], root] if os.geteuid() == 0 else [found["unshare"], "--map-root-user", found["chroot"], root]
    done = subprocess.run([*command, "/memoir/bin/memoir", "--version"], capture_output=True, text=True)
    if re.search(r"chroot: cannot change root|unshare.*(failed|not permitted)", done.stderr):
        pytest.skip(f"may not change the root folder here: {done.stderr.strip()}")
    return command


@pytest.fixture(scope="module")
def root(tree, record, tmp_path_factory):
    """The bare root: the tree is /memoir and a capture /capture."""
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
    return root


@pytest.fixture(scope="module")
def bare(root):
    """bare(*command) runs it there, in an empty environment."""
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


def test_the_root_is_bare(root, bare):
    """Proves that the other tests test something: a program that needs one library more does not start there."""
    subprocess.run(["cc", "-x", "c", "-", "-o", root / "needy", "-Wl,--no-as-needed", "-lz"], input=b"int main(void) { return 0; }", check=True)
    done = bare("/needy")
    assert done.returncode != 0 and "libz.so.1" in done.stderr, done
