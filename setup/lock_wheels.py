"""Writes setup/requirements*.txt from setup/requirements*.in: python setup/lock_wheels.py

An .in file is written by hand and names the packages that Memoir needs. Its .txt lists these and all packages that they depend on, each with its
version and with the SHA-256 of every file that PyPI has of that version. pip and uv install nothing whose hash is not listed. Versions that a .txt
already lists are kept where they still fit.
"""

import pathlib
import subprocess
import sys
import tempfile

import torches

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Options of `uv pip compile`. --no-deps: the .in lists every package, and is installed without what these depend on (./dev).
OPTIONS = {
    "requirements": ["--python-version", "3.10"],
    "requirements-2.15": ["--python-version", "3.11", "--no-deps"],
    "requirements-foreign": ["--python-version", "3.11", "--no-deps"],
    "requirements-spark": ["--python-version", "3.11", "--no-deps"],
    "requirements-uv": ["--python-version", "3.10"],
}
COMMON = ["--universal", "--generate-hashes", "--no-annotate", "--custom-compile-command", "python setup/lock_wheels.py", "--quiet"]


def main():
    with tempfile.TemporaryDirectory() as cache:
        uv = torches.uv(pathlib.Path(cache) / "log")
        for name, options in OPTIONS.items():
            print(f"- setup/{name}.txt", flush=True)
            subprocess.run([uv, "pip", "compile", f"setup/{name}.in", "-o", f"setup/{name}.txt", "--cache-dir", cache, *COMMON, *options], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
