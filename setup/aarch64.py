"""The files that another machine needs to build for aarch64, in build/aarch64-system, and the wheel that is built with them.

    setup/aarch64.py system    Debian's arm64 packages (root, 0.2 GB) and torch's aarch64 wheels (torch-*): of those with CUDA what is linked with (0.9 GB)
    setup/aarch64.py wheel     dist/memoir-*_aarch64.whl, with a tracker for each of these torches: --torches all, or 2.8,2.9.0

cmake/toolchains/aarch64-linux-gnu.cmake compiles with both. Nothing of it is installed into this system.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import build_wheel
import torches
from build_wheel import ROOT, run, say

SYSTEM = ROOT / "build" / "aarch64-system"
MACHINE = "aarch64"
COMPILER = f"{MACHINE}-linux-gnu-g++"
# As in apt-packages.txt, of which the rest is this machine's; and what programs and Python need to start.
LIBRARIES = """libc6-dev libstdc++-12-dev libabsl-dev libprotobuf-dev libprotozero-dev libzstd-dev zlib1g-dev libsqlite3-dev libxxhash-dev libfmt-dev
    libcli11-dev nlohmann-json3-dev libstb-dev libdw-dev liblzma-dev libbz2-dev libsodium-dev libgtest-dev libgmock-dev libbenchmark-dev python3""".split()
TORCHES = {"system": "2.8,2.11", "wheel": "2.11,2.15"}  # the versions that ./dev aarch64 runs (2.8) and links with; then the versions of ./dev test


def missing():
    """Programs of this machine's that are not there, as Debian's packages."""
    wanted = {COMPILER: f"g++-{MACHINE}-linux-gnu", f"qemu-{MACHINE}": "qemu-user"}
    return [package for program, package in wanted.items() if not shutil.which(program)]


def release():
    return re.search("^VERSION_CODENAME=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE).group(1)


def make_root():
    root, mark = SYSTEM / "root", SYSTEM / "root.ready"
    if mark.exists() and mark.read_text() == " ".join(LIBRARIES):
        return
    say(f"Debian's arm64 packages into {root}")
    for folder in (root, SYSTEM / "apt"):
        shutil.rmtree(folder, ignore_errors=True)
    apt = build_wheel.apt_of_its_own(SYSTEM / "apt", release(), "arm64")
    run(*apt, "--no-install-recommends", "--yes", "--download-only", "install", *LIBRARIES)
    root.mkdir(parents=True)
    build_wheel.unpack(sorted((SYSTEM / "apt" / "cache" / "archives").glob("*.deb")), root)
    shutil.rmtree(SYSTEM / "apt")
    mark.write_text(" ".join(LIBRARIES))


def environment_of(version):
    return SYSTEM / f"torch-{torches.minor(version)}"


def make_torch(version):
    """Makes an environment of this machine's interpreter that finds aarch64's torch, and the packages of build/venv: CUDA's headers, which are equal on
    both machines, pip and pytest. A torch with CUDA is reduced to the files that a tracker needs to build, because it does not start without NVIDIA's libraries."""
    folder = environment_of(version)
    mark = folder / "ready"
    if mark.exists() and mark.read_text() == version:
        return
    say(f"torch {version} for {MACHINE}")
    shutil.rmtree(folder, ignore_errors=True)
    beside = ROOT / "build" / "venv" / "bin" / "python"
    run(beside, "-m", "venv", "--without-pip", folder)
    packages = pathlib.Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(folder), "platbase": str(folder)}))
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    run(beside, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--platform", f"manylinux_2_28_{MACHINE}",
        "--python-version", python, "-d", folder / "download", f"torch=={version}")
    wheel, = (folder / "download").glob("torch-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    shutil.rmtree(folder / "download")
    if (packages / "torch" / "lib" / "libtorch_cuda.so").exists():
        torches.reduce(folder)
    (packages / "beside.pth").write_text(run(beside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    mark.write_text(version)


def make_system(versions):
    if absent := missing():
        sys.exit(f"to build for {MACHINE}, install {' '.join(absent)}")
    SYSTEM.mkdir(parents=True, exist_ok=True)
    make_root()
    for version in versions:
        make_torch(version)


def make_wheel(versions, output, flags_of_tests):
    """As build_wheel.py does. It has no bill of materials: setup/sbom.py asks this system's dpkg whose the files are."""
    newest_first = sorted(versions, key=lambda version: [int(part) for part in version.split(".")], reverse=True)   # older ones are without CUDA
    first, *others = (environment_of(version) / "bin" / "python" for version in newest_first)
    if pathlib.Path(sys.executable) != first:  # scikit-build-core builds for the interpreter that runs it, and its torch
        os.execv(first, [str(first), *sys.argv])
    old = SYSTEM / "old"
    build_wheel.make_sysroot(old, "arm64", MACHINE)
    work = ROOT / "build" / f"wheel-work-{MACHINE}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.environ |= {"CC": COMPILER.replace("g++", "gcc"), "CXX": COMPILER}
    flags = [f"cmake.define.CMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/{MACHINE}-linux-gnu.cmake", f"build-dir=build/wheel-{MACHINE}"]
    say("building; this takes some minutes")
    wheel = build_wheel.build(";".join(map(str, others)), work, old, [*flags, *(build_wheel.FLAGS_OF_TESTS if flags_of_tests else ())])
    wheel, asks = build_wheel.tag(wheel, work, MACHINE, f"{MACHINE}-linux-gnu-objdump")
    output.mkdir(parents=True, exist_ok=True)
    done = output / wheel.name
    shutil.move(wheel, done)
    shutil.rmtree(work)
    say(f"{done} asks for {asks}")


def main():
    parser = argparse.ArgumentParser(prog="setup/aarch64.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("system", "wheel"))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "dist", help="folder of the wheel [dist]")
    parser.add_argument("--flags-of-tests", action="store_true", help="compile as ./dev test does, for its tests: not what is shipped")
    parser.add_argument("--torches", metavar="LIST",
                        help=f"minors or versions, divided by commas, or all: 2.6 to 2.15 [of system {TORCHES['system']}, of wheel {TORCHES['wheel']}]")
    options = parser.parse_args()
    try:
        versions = torches.versions_of((options.torches or TORCHES[options.what]).split(","))
        make_system(versions)
        if options.what == "wheel":
            make_wheel(versions, options.output.resolve(), options.flags_of_tests)
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"{problem}")


if __name__ == "__main__":
    main()
