"""./dev wheel: dist/memoir-*.whl with a tracker for each torch that there is an environment of, linked for glibc 2.28 where that can be had.

--torches all makes what is missing for the last release of each minor: 0.6 GB each in build/torches, of which 0.4 to 0.9 GB are downloaded.

The older system's libc and libstdc++, to link with, are Debian 11's packages, from the mirror that apt uses here. Where they cannot be had, the
wheel asks for this system's glibc. Its platform tag is what its programs and libraries ask for, not what was hoped.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import reproducible
import sbom
import torches

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYSROOT = ROOT / "build" / "sysroot"
PACKAGES = ("libc6", "libc6-dev", "libstdc++6", "libgcc-s1")
OLDER = "bullseye"
WHEEL_TOOL = "wheel==0.45.1"  # unpacks, packs and renames, and writes the tag and the record anew


def say(line):
    print(f"- {line}", flush=True)


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def mirror():
    """Where apt gets Debian's or Ubuntu's packages here; only Debian's has the older ones."""
    for line in run("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages").splitlines():
        origin, _, address = line.partition(" ")
        if origin == "Debian" and address.rstrip("/").endswith("/debian"):
            return address
    raise RuntimeError("apt knows no mirror of Debian")


def apt_of_its_own(folder, release, architecture=None):
    """apt-get with a state in `folder` that knows no installed package, for another system's: this one's is left alone. As run() takes it."""
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror()} {release} main\n")
    settings = {"Dir::Etc::SourceList": "sources.list", "Dir::State": ".", "Dir::State::status": "status", "Dir::Cache": "cache"}
    options = [f"-o{name}={folder / value}" for name, value in settings.items()]
    options += ["-oDir::Etc::SourceParts=/dev/null", "-oAPT::Sandbox::User=root", "-oAcquire::Retries=3"]
    if architecture:
        options += [f"-oAPT::Architecture={architecture}", f"-oAPT::Architectures::={architecture}"]
    command = ["apt-get", *options]
    run(*command, "update")
    return command


def unpack(packages, root):
    """Debian's packages below `root`, with links that stay below it, also where it is moved."""
    for package in packages:
        run("dpkg-deb", "-x", package, root)
    for link in [path for path in root.rglob("*") if path.is_symlink() and str(path.readlink()).startswith("/")]:
        target = os.path.relpath(root / str(link.readlink())[1:], link.parent)
        link.unlink()
        link.symlink_to(target)


def make_sysroot(root=SYSROOT, architecture=None, machine="x86_64"):
    """build/sysroot: the older libraries, and in link/ the names by which the linker asks for two of them. The compiler's own libgcc_s.so is such a
    script, too: what is shared lacks some functions, for atomics on aarch64, which the archive has."""
    if (root / "ready").exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    apt = apt_of_its_own(root / "apt", OLDER, architecture)
    run(*apt, "download", *PACKAGES, cwd=root / "apt" / "packages")
    packages = sorted((root / "apt" / "packages").glob("*.deb"))
    unpack(packages, root)
    (root / "link").mkdir()
    (root / "link" / "libstdc++.so").symlink_to(f"../usr/lib/{machine}-linux-gnu/libstdc++.so.6")
    (root / "link" / "libgcc_s.so").write_text(f"GROUP ( /lib/{machine}-linux-gnu/libgcc_s.so.1 -lgcc )\n")    # below the sysroot, for the script is
    (root / "ready").write_text("\n".join(package.name for package in packages) + "\n")


# As the preset `dev` compiles: a compiler cache then has the objects.
FLAGS_OF_TESTS = ("cmake.build-type=RelWithDebInfo", "cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1")


def build(other_pythons, folder, sysroot, flags):
    """The wheel as pip builds it, with this interpreter's torch first."""
    settings = [f"cmake.define.MEMOIR_OTHER_PYTHONS={other_pythons}", f"cmake.define.MEMOIR_OLD_SYSROOT={sysroot or ''}",
                "cmake.define.MEMOIR_WARNINGS_ARE_ERRORS=ON", *flags]
    settings = [f"--config-settings={setting}" for setting in settings]
    run(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "-w", folder, *settings, ROOT)
    wheel, = folder.glob("memoir-*.whl")
    return wheel


def symbol_versions(wheel, folder, objdump="objdump"):
    """{"GLIBC": (2, 28), "GLIBCXX": (3, 4, 22)}: the latest that anything in the wheel asks for."""
    latest = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if archive.read(name)[:4] != b"\x7fELF":
                continue
            for line in run(objdump, "-T", archive.extract(name, folder)).splitlines():
                for library, version in re.findall(r"\*UND\*.*\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", line):
                    latest[library] = max(latest.get(library, (0,)), tuple(map(int, version.split("."))))
    return latest


def wheel_tool(folder, *arguments, root=ROOT):
    """Runs PyPI's `wheel`, which keeps the record right and the members sorted; what it says."""
    tools = folder / "tools"
    if not tools.exists():
        run(sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", tools, WHEEL_TOOL)
    return run(sys.executable, "-m", "wheel", *arguments, env={**reproducible.variables(root), "PYTHONPATH": str(tools)})


def add_bill(wheel, folder, build_folder=ROOT / "build" / "wheel"):
    """The bill of materials of what is in `wheel`, where PEP 770 has installers look for it."""
    wheel_tool(folder, "unpack", "-d", folder / "unpacked", wheel)
    information, = (folder / "unpacked").glob("*/*.dist-info")
    bill = sbom.bill(sbom.Build(build_folder), information.parent / "memoir" / "_tree")
    (information / "sboms").mkdir()
    (information / "sboms" / "memoir.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")
    wheel_tool(folder, "pack", "-d", wheel.parent, information.parent)


def tag(wheel, folder, machine="x86_64", objdump="objdump"):
    """`wheel` renamed by what it asks of glibc: manylinux_2_N."""
    latest = symbol_versions(wheel, folder / "content", objdump)
    minor = max(latest["GLIBC"][1], 28)  # torch's own wheels need 2.28: an older one is useless
    platform = f"manylinux_2_{minor}_{machine}"
    name = wheel_tool(folder, "tags", "--remove", "--platform-tag", platform, wheel).split()[-1]
    asks = ", ".join(f"{library} {'.'.join(map(str, version))}" for library, version in sorted(latest.items()))
    return wheel.with_name(name), asks


def other_pythons(options):
    """Returns the other interpreters whose torch gets a tracker, as a list for CMake."""
    given = [pathlib.Path(path) for path in options.other_pythons.split(";") if path]
    found = {torches.minor(torches.version_in(path.parents[1])): path for path in given}
    if options.torches == "existing":
        found = torches.existing() | found
    elif options.torches != "none":
        log = ROOT / "build" / "log" / "torches.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            found = torches.chosen(options.torches.split(","), sys.executable, log)
        except (ValueError, OSError) as problem:
            sys.exit(f"./dev wheel --torches {options.torches}: {problem}")
    own = torches.minor(torches.version_in(pathlib.Path(sys.prefix)))
    return ";".join(str(path) for minor, path in found.items() if minor != own)


def main():
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other_pythons", help="interpreters with other torches, divided by semicolons")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "dist", help="folder of the wheel [dist]")
    parser.add_argument("--flags-of-tests", action="store_true", help="compile as ./dev test does, for its tests: not what is shipped")
    parser.add_argument("--torches", default="existing", metavar="LIST",
                        help="all; or minors or versions, divided by commas: 2.6,2.9.0; none: only those of ./dev test; existing: also what is in build/torches [existing]")
    parser.add_argument("--all-torches", dest="torches", action="store_const", const="all", help="the same as --torches all")
    options = parser.parse_args()
    # scikit-build-core would take the names that Python was built with, which the cache does not know.
    os.environ |= {name: os.environ.get(name, value) for name, value in (("CC", "cc"), ("CXX", "c++"))}
    others = other_pythons(options)
    os.environ |= reproducible.variables(ROOT)
    sysroot = SYSROOT
    try:
        make_sysroot()
    except (RuntimeError, OSError) as problem:
        say(f"linked for this system's glibc, because the older one cannot be had: {str(problem).strip().splitlines()[-1]}")
        sysroot = None
    work = ROOT / "build" / "wheel-work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    say("building; this takes some minutes")
    wheel = build(others, work, sysroot, FLAGS_OF_TESTS if options.flags_of_tests else ())
    try:
        add_bill(wheel, work)
    except sbom.Unknown as problem:
        say(f"without a bill of materials: {problem}")
    wheel, asks = tag(wheel, work)
    options.output.mkdir(parents=True, exist_ok=True)
    done = options.output / wheel.name
    shutil.move(wheel, done)
    shutil.rmtree(work)
    say(f"{done} asks for {asks}")


if __name__ == "__main__":
    main()
