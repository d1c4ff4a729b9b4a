"""The wheel of ./dev wheel --arch aarch64: machine, versions of symbols, needed and exported symbols of its libraries, and that its programs start with an
older glibc."""

import re
import sys
import zipfile

from conftest import ROOT, RUNS, SYSTEM, WITH_CUDA, emulated, qemu, run

sys.path.append(str(ROOT / "tests" / "rules"))

AARCH64 = (183).to_bytes(2, "little")


def test_it_is_of_aarch64(wheel):
    assert re.fullmatch(r"memoir-[0-9.]+-py3-none-manylinux_2_28_aarch64\.whl", wheel.name), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = {name.removeprefix("memoir/_tree/") for name in archive.namelist()}
        machines = {name: archive.read(name)[18:20] for name in archive.namelist() if archive.read(name)[:4] == b"\x7fELF"}
        tag = next(archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
    assert names >= {"bin/memoir", "libexec/memoir/memoir-drain", "lib/memoir/libmemoir_interpose.so", f"lib/memoir/libmemoir_tracker-torch{RUNS}.so",
                     f"lib/memoir/libmemoir_tracker-torch{WITH_CUDA}.so", f"lib/memoir/libmemoir_values-torch{WITH_CUDA}.so",
                     "lib/memoir/simulated/libcuda.so.1", "share/memoir/proto/memoir/v1/capture.proto"}
    assert set(machines.values()) == {AARCH64}, machines
    assert "Tag: py3-none-manylinux_2_28_aarch64" in tag


def test_it_asks_for_an_older_system(wheel, tmp_path):
    import build_wheel

    asks = build_wheel.symbol_versions(wheel, tmp_path, "aarch64-linux-gnu-objdump")
    assert asks["GLIBC"] <= (2, 28) and asks["GLIBCXX"] <= (3, 4, 25), asks


def test_its_libraries_need_what_torch_brings(wheel, aarch64_tree):
    import installed_rules

    glibc = (": needs libdl.so.2", ": needs libpthread.so.0", ": needs libm.so.6")   # before 2.34 libc was several libraries
    assert not [line for line in installed_rules.needed_libraries(aarch64_tree) if not line.endswith(glibc)]
    for check in (installed_rules.exported_symbols, installed_rules.string_of_torch, installed_rules.stays_and_moves,
                  installed_rules.no_protobuf_in_the_process):
        assert not list(check(aarch64_tree)), check.__doc__


def test_its_programs_start(aarch64_tree):
    version = (ROOT / "VERSION").read_text().strip()
    program = aarch64_tree / "bin" / "memoir"
    assert version in emulated(program, "--version")
    assert version in run(*qemu(program, "--version", root=SYSTEM / "old"))     # Debian 11's glibc
    assert "usage: memoir-drain" in run(*qemu(aarch64_tree / "libexec" / "memoir" / "memoir-drain", "--help", root=SYSTEM / "old"))
