"""Installs what a file of requirements names into the environment of the Python that runs this: python setup/install_wheels.py REQUIREMENTS [OPTIONS]

uv does it in a quarter of pip's time. Where it cannot be had, or does not know the index that pip was told of, pip does it. Both refuse a file whose
hash is not among those that REQUIREMENTS lists (setup/lock_wheels.py writes it)."""

import pathlib
import subprocess
import sys

import torches


def main():
    requirements, *options = sys.argv[1:]
    wanted = ["--require-hashes", "-r", requirements, *options]
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    uv = [pathlib.Path(sys.prefix) / "bin" / "uv", "pip", "install", "--python", sys.executable, "--no-progress"]
    if subprocess.call([*pip, "-q", *torches.UV]) == 0 and subprocess.call([*uv, *wanted]) == 0:
        return 0
    return subprocess.call([*pip, *wanted])


if __name__ == "__main__":
    sys.exit(main())
