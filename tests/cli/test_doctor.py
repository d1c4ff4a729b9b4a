"""Every line of `memoir doctor`, each on a machine where it is true. tests/rules/doctor_lines.py looks for lines without a test here.

Things that a test cannot have (a network folder, a full disk, an old kernel) are faked by a library in front of libc.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from lies import LIES

NFS, MIB, GIB = 0x6969, 1 << 20, 1 << 30


@pytest.fixture(scope="session")
def lies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lies")
    (folder / "lies.c").write_text(LIES)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "lies.so", folder / "lies.c", "-ldl"], check=True)
    return str(folder / "lies.so")


@pytest.fixture
def torch_of(tmp_path):
    """torch_of(version.py) is a folder for PYTHONPATH with a torch of that version that cannot be imported."""

    def torch_of(text):
        folder = tmp_path / "site" / "torch"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text("raise SystemExit('imported')")
        (folder / "version.py").write_text(text)
        return folder.parent

    return torch_of


@pytest.fixture
def doctor(memoir, torch_of, tmp_path):
    """doctor(subject, ...): the checks of that subject, and the finished process."""

    def doctor(subject, *arguments, **variables):
        if "PYTHONPATH" not in variables:
            variables["PYTHONPATH"] = torch_of("__version__ = '9.9.1'\n")
        variables = {"MEMOIR_RING_DIR": tmp_path, "LD_PRELOAD": ""} | variables
        program = {"program": variables.pop("program")} if "program" in variables else {}
        if "--python" not in arguments:
            arguments = ("--python", sys.executable, *arguments)
        done = memoir("doctor", "--json", *arguments, **program, **variables)
        report = json.loads(done.stdout)
        assert report["wrong"] == sum(check["level"] == "wrong" for check in report["checks"])
        assert done.returncode == (3 if report["wrong"] else 0)
        return [(check["level"], check["finding"], check["fix"]) for check in report["checks"] if check["subject"] == subject]

    return doctor


def is_line(found, level, finding, fix=""):
    """One line, of that level, that says these things; a line that is fine names no fix."""
    (got_level, got_finding, got_fix), = found
    assert (got_level, bool(got_fix)) == (level, level != "ok") and finding in got_finding and fix in got_fix, found


def test_all_is_fine(doctor, fake_tree, lies, tmp_path):
    lib = fake_tree / "lib/memoir"
    room = {"LD_PRELOAD": lies, "LIE_ROOM": f"/dev/shm={GIB}"}
    is_line(doctor("interposer"), "ok", str(lib / "libmemoir_interpose.so"))
    is_line(doctor("python package"), "ok", str(lib / "python/_torch_memoir/__init__.py"))
    is_line(doctor("memoir-drain"), "ok", str(fake_tree / "libexec/memoir/memoir-drain"))
    is_line(doctor("trackers"), "ok", "for torch 9.9")
    is_line(doctor("python"), "ok", ".".join(map(str, sys.version_info[:3])))
    is_line(doctor("torch"), "ok", f"9.9.1 in {tmp_path}/site/torch")
    is_line(doctor("tracker"), "ok", "for torch 9.9")
    is_line(doctor("start-up"), "ok", "torch starts Memoir at the end of its import")
    is_line(doctor("LD_PRELOAD"), "ok", "not set")
    is_line(doctor("ring folder"), "ok", str(tmp_path))
    is_line(doctor("/dev/shm", **room), "ok", "1.00 GiB free")
    is_line(doctor("output folder", "-o", tmp_path / "new" / "run"), "ok", str(tmp_path))
    is_line(doctor("kernel"), "ok", os.uname().release)
    is_line(doctor("descriptors"), "ok", "Memoir's files are in a separate table of descriptors (close_range)")
    is_line(doctor("CUDA kernels"), "ok", "launches from interposed calls")
    is_line(doctor("CUDA kernels"), "ok", "CUPTI")
    assert doctor("NVTX") == []
    is_line(doctor("NVTX", NVTX_INJECTION64_PATH="/opt/profiler.so"), "note", "NVTX_INJECTION64_PATH=/opt/profiler.so: ranges of NVTX go there (and blocks, with --publish nvtx-memory)",
            "unset it to have them in the recording")
    assert doctor("variables") == [] and doctor("install path") == []


# The installation


@pytest.mark.parametrize("subject, part", [("interposer", "lib/memoir/libmemoir_interpose.so"), ("memoir-drain", "libexec/memoir/memoir-drain"),
                                           ("python package", "lib/memoir/python/_torch_memoir/__init__.py")])
def test_a_part_is_missing(doctor, fake_tree, tmp_path, subject, part):
    shutil.copytree(fake_tree, tmp_path / "tree")
    (tmp_path / "tree" / part).unlink()
    is_line(doctor(subject, program=tmp_path / "tree/bin/memoir"), "wrong", f"{part} is missing", "install Memoir again")


def test_no_trackers(doctor, fake_tree, tmp_path):
    shutil.copytree(fake_tree, tmp_path / "tree")
    (tmp_path / "tree/lib/memoir/libmemoir_tracker-torch9.9.so").unlink()
    is_line(doctor("trackers", program=tmp_path / "tree/bin/memoir"), "wrong", "none in ", "install Memoir again, built for your torch")


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_a_path_that_cannot_be_preloaded(doctor, fake_tree, tmp_path, name):
    shutil.copytree(fake_tree, tmp_path / name)
    is_line(doctor("install path", program=tmp_path / name / "bin/memoir"), "note", "holds a space or colon, which LD_PRELOAD cannot name",
            "move the installed tree to a path without them")


# Python and torch


def test_no_such_python(doctor):
    is_line(doctor("python", "--python", "/no/such/python"), "wrong", "/no/such/python does not run here, or is no Python",
            "name yours: memoir doctor --python PATH")


def test_no_torch(doctor, tmp_path):
    (tmp_path / "none").mkdir()
    bare = [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"]
    subprocess.run(bare, check=True)
    is_line(doctor("torch", "--python", tmp_path / "bare/bin/python", PYTHONPATH=tmp_path / "none"), "wrong", "not installed in this python",
            "name the python of your program: memoir doctor --python PATH")


def test_a_torch_without_version(doctor, torch_of):
    is_line(doctor("torch", PYTHONPATH=torch_of("")), "wrong", "no version in ", "install torch again")
    is_line(doctor("torch", PYTHONPATH=torch_of("")), "wrong", "/site/torch/version.py", "install torch again")


@pytest.mark.parametrize("version, build, words", [("3.15.0", "cpython", "Python 3.15.0"), ("3.9.2", "cpython", "Python 3.9.2"),
                                                   ("3.13.1", "free-threaded", "free-threaded Python 3.13.1"), ("3.11.13", "pypy", "pypy Python 3.11.13")])
def test_python_stacks(doctor, torch_of, tmp_path, version, build, words):
    is_line(doctor("Python stacks"), "ok", "of this Python")
    python, site = tmp_path / "python", torch_of("__version__ = '9.9.1'\n")
    python.write_text(f"#!/bin/sh\nprintf '%s\\n' {python} {version} {site}/torch {build}\n")
    python.chmod(0o755)
    is_line(doctor("Python stacks", "--python", python), "note", f"not of {words}: blocks will have no lines; all else is recorded",
            "record with a released CPython, 3.10 to 3.14")


def test_no_tracker_for_this_torch(doctor, torch_of):
    is_line(doctor("tracker", PYTHONPATH=torch_of("__version__ = '2.3.4+cpu'\n")), "wrong", "none for torch 2.3.4+cpu: its programs run unrecorded", f"in Memoir's sources: {sys.executable} -m pip install . (builds one for torch 2.3)")


def test_another_patch_is_the_same_torch_and_a_nightly_is_not(doctor, torch_of):
    is_line(doctor("tracker", PYTHONPATH=torch_of("__version__ = '9.9.7+cu200'\n")), "ok", "for torch 9.9")
    is_line(doctor("tracker", PYTHONPATH=torch_of("__version__ = '9.9.7.dev20301231+cu200'\n")), "wrong", "none for torch 9.9.7.dev20301231+cu200: its programs run unrecorded", "-m pip install . (builds one for torch 9.9.7.dev20301231+cu200)")


def test_what_a_capture_tells(doctor):
    (level, finding, fix), = doctor("told: variables", RANK="3", WORLD_SIZE="", TMPDIR="/tmp", SECRET_TOKEN="s3cr3t")
    assert (level, fix) == ("ok", "") and "RANK=3" in finding and "TMPDIR=/tmp" in finding and "WORLD_SIZE" in finding.split("; recorded if set: ")[1]
    assert finding.endswith("; no other variable") and "SECRET" not in finding and "s3cr3t" not in finding
    assert doctor("told: arguments")[0][1] == "the file name of the script, without its folder; no argument"
    assert doctor("told: host")[0][1] == os.uname().nodename + ", its boot id, ids of processes; no user, no address"


@pytest.fixture
def with_cuda(fake_tree, torch_of, tmp_path):
    """with_cuda(source of libc10_cuda.so, tracker): the program of a tree, and the folder of a torch, that have these."""

    def with_cuda(source, tracker):
        library = torch_of("__version__ = '9.9.1+cu130'\n") / "torch/lib/libc10_cuda.so"
        library.parent.mkdir()
        (tmp_path / "c10.c").write_text(source)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "c10.c"], check=True)
        shutil.copytree(fake_tree, tmp_path / "tree")
        (tmp_path / "tree/lib/memoir/libmemoir_tracker-torch9.9.so").write_bytes(tracker)
        return {"program": tmp_path / "tree/bin/memoir", "PYTHONPATH": tmp_path / "site"}

    return with_cuda


CUDA_ALLOCATOR = "_ZN3c104cuda20CUDACachingAllocator9allocatorE"
CUDA_LIBRARY = f"void *{CUDA_ALLOCATOR}; void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void); " \
               "void allocate(void) { _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(); }\n"


def test_cuda_memory(doctor, with_cuda):
    assert doctor("CUDA memory") == [], "of a torch with CUDA only"
    is_line(doctor("CUDA memory", **with_cuda(CUDA_LIBRARY, CUDA_ALLOCATOR.encode())), "ok", "blocks and segments of torch's allocator")


def test_a_torch_whose_cuda_allocator_is_another(doctor, with_cuda):
    found = doctor("CUDA memory", **with_cuda("int nothing;\n", CUDA_ALLOCATOR.encode()))
    is_line(found, "wrong", "not known: torch's allocator is not found in ", "install a torch and a Memoir that were built for each other")
    is_line(found, "wrong", ": it will not be recorded")


def test_a_tracker_without_cuda(doctor, with_cuda):
    is_line(doctor("CUDA memory", **with_cuda(CUDA_LIBRARY, b"")), "wrong", "not known: the tracker for torch 9.9 was built without CUDA",
            "build Memoir beside a torch with CUDA, with the headers that setup/requirements.txt names")


def test_cupti(doctor, with_cuda, tmp_path):
    assert doctor("CUPTI") == [], "of a torch with CUDA only"
    place = with_cuda(CUDA_LIBRARY, CUDA_ALLOCATOR.encode())
    is_line(doctor("CUPTI", **place), "note", "not beside torch: --kernels times needs it from the system", "install the wheel nvidia-cuda-cupti")
    wheels = tmp_path / "site/nvidia"
    for path, level, words, fix in [("cuda_cupti/lib/libcupti.so.11.8", "note", " is older than CUDA 12's: no --kernels times", "a torch that was built for CUDA 12 or 13"),
                                    ("cuda_cupti/lib/libcupti.so.12", "ok", "/libcupti.so.12, for --kernels times", ""), ("cu13/lib/libcupti.so.13", "ok", ", for --kernels times", "")]:
        (wheels / path).parent.mkdir(parents=True, exist_ok=True)
        (wheels / path).touch()
        is_line(doctor("CUPTI", **place), level, words, fix)


# The environment


def test_torch_starts_nothing(doctor):
    for value in ("0", "", "true"):
        is_line(doctor("start-up", TORCH_DEVICE_BACKEND_AUTOLOAD=value), "wrong",
                f"TORCH_DEVICE_BACKEND_AUTOLOAD='{value}' keeps torch from starting Memoir", "unset it, or call memoir.start() in the program")
    is_line(doctor("start-up", TORCH_DEVICE_BACKEND_AUTOLOAD=1), "ok", "torch starts Memoir")


def test_variables_that_mean_nothing(doctor):
    is_line(doctor("variables", MEMOIR_OUTPT="x"), "wrong", "MEMOIR_OUTPT is ignored", "correct or unset it")
    is_line(doctor("variables", MEMOIR_RING_SIZE="huge"), "wrong", "MEMOIR_RING_SIZE=huge", "correct or unset it")


def test_something_is_preloaded(doctor, lies):
    is_line(doctor("LD_PRELOAD", LD_PRELOAD=lies), "note", lies, "it is kept behind Memoir's; if a program misbehaves, try without it")


# The system


def test_the_ring_folder(doctor, lies, tmp_path):
    fix = "set MEMOIR_RING_DIR (or --ring-dir) to a local folder with 64 MiB free"
    small = {"LD_PRELOAD": lies, "LIE_ROOM": f"{tmp_path}={20 * MIB}"}
    is_line(doctor("ring folder", **small), "note", f"{tmp_path} has 20.0 MiB free: the ring will be smaller", fix)
    is_line(doctor("ring folder", LD_PRELOAD=lies, LIE_ROOM=f"{tmp_path}={MIB}"), "wrong", f"{tmp_path} (1.0 MiB free)", fix)
    is_line(doctor("ring folder", LD_PRELOAD=lies, LIE_TYPE=f"{tmp_path}={NFS}"), "wrong", "on a network: NFS", fix)
    is_line(doctor("ring folder", MEMOIR_RING_DIR=tmp_path / "none"), "wrong", "No such file or directory", fix)


def test_shared_memory(doctor, lies, fake_tree):
    is_line(doctor("/dev/shm", LD_PRELOAD=lies, LIE_ROOM=f"/dev/shm={64 * MIB}"), "note", "64.0 MiB free: left to the program, the ring goes elsewhere",
            "in a container: --shm-size=1g")


def test_no_shared_memory(fake_tree, lies):
    """/dev/shm that cannot be looked into, seen by the program alone."""
    blind = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /dev && exec "$0" doctor --json',
                            fake_tree / "bin/memoir"], capture_output=True, text=True)
    if "unshare" in blind.stderr or "mount" in blind.stderr:
        pytest.skip(f"no mounts of one's own here: {blind.stderr.strip()}")
    found = [(c["level"], c["finding"], c["fix"]) for c in json.loads(blind.stdout)["checks"] if c["subject"] == "/dev/shm"]
    is_line(found, "note", "No such file or directory", "the ring goes to TMPDIR or /tmp; on a disk it is slower")


def test_the_output_folder(doctor, lies, tmp_path):
    at = ("-o", tmp_path)
    (tmp_path / "file").write_text("")
    is_line(doctor("output folder", "-o", tmp_path / "file" / "run"), "wrong", "Not a directory", "choose another with -o DIR")
    is_line(doctor("output folder", *at, LD_PRELOAD=lies, LIE_TYPE=f"{tmp_path}={NFS}"), "note", "is on a network: NFS",
            "a slow one makes the program wait; a local folder (-o DIR) does not")
    is_line(doctor("output folder", *at, LD_PRELOAD=lies, LIE_ROOM=f"{tmp_path}={MIB}"), "note", "(1.0 MiB free)",
            "cap the recording with --max-size, or choose another with -o DIR")


@pytest.fixture
def with_rings(fake_tree, tmp_path):
    """with_rings(lines): a tree whose memoir-drain finds these."""

    def with_rings(*lines):
        shutil.copytree(fake_tree, tmp_path / "ringed", dirs_exist_ok=True)
        (tmp_path / "ringed/libexec/memoir/rings").write_text("".join("\t".join(line) + "\n" for line in lines))
        return tmp_path / "ringed/bin/memoir"

    return with_rings


RING = ("/dev/shm/memoir-ring-7-100.ring", str(36 * MIB), "7")


def test_rings_of_dead_processes(doctor, with_rings):
    assert doctor("dead ring", program=with_rings()) == []
    is_line(doctor("dead ring", program=with_rings((*RING, "merge", "/runs/a"))), "note",
            f"{RING[0]} (36.0 MiB) of process 7, which is gone: its newest events are not yet in /runs/a", "memoir doctor --clean puts them there")
    is_line(doctor("dead ring", program=with_rings((*RING, "gone", "/runs/a"))), "note",
            f"{RING[0]} (36.0 MiB) of process 7, which is gone as its capture is: /runs/a", "memoir doctor --clean removes it")
    is_line(doctor("dead ring", program=with_rings((*RING, "foreign", ""))), "note",
            f"{RING[0]} (36.0 MiB) of process 7, which is gone: from another version of Memoir, or cut short",
            "open its capture with the Memoir that recorded it, or remove the file")


def test_rings_that_were_cleaned(doctor, with_rings):
    is_line(doctor("dead ring", "--clean", program=with_rings((*RING, "merged", "/runs/a"))), "ok", f"{RING[0]} was merged into /runs/a")
    is_line(doctor("dead ring", "--clean", program=with_rings((*RING, "removed", "/runs/a"))), "ok",
            f"{RING[0]} was removed: its capture is gone, /runs/a")
    is_line(doctor("dead ring", "--clean", program=with_rings((*RING, "kept", "/runs/a is full"))), "wrong", "/runs/a is full",
            "correct that and run memoir doctor --clean again")


def test_an_old_kernel(doctor, lies):
    is_line(doctor("kernel", LD_PRELOAD=lies, LIE_KERNEL="4.13.0-generic"), "note",
            "4.13.0-generic has no MADV_WIPEONFORK: children made by _Fork or clone may disturb the recording",
            "Linux 4.14 or newer; programs that use fork() need none")
    is_line(doctor("kernel", LD_PRELOAD=lies, LIE_KERNEL="4.14.0"), "ok", "4.14.0")


def test_a_kernel_that_gives_threads_no_table_of_their_own(doctor, lies):
    close_range, unshare = 436, 272
    is_line(doctor("descriptors", LD_PRELOAD=lies, LIE_REFUSED=str(close_range)), "ok", "Memoir's files are in a separate table of descriptors (unshare)")
    is_line(doctor("descriptors", LD_PRELOAD=lies, LIE_REFUSED=f"{close_range},{unshare}"), "note",
            "Memoir's files are in the program's table: close_range and unshare are refused; a program that closes files "
            "which it did not open can disturb the recording", "Linux 5.9 or newer, and a sandbox that allows close_range")


# The simulated GPU


@pytest.fixture
def simulated(doctor, fake_tree, torch_of, tmp_path):
    """simulated(subject, what torch imports, what the device shows): doctor --simulated on libraries made of C."""
    shutil.copytree(fake_tree, tmp_path / "tree")
    lib = tmp_path / "tree/lib/memoir"

    def build(path, source):
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", path], input=source, text=True, check=True)

    def simulated(subject, imports, shows):
        site = torch_of("__version__ = '9.9.1'\n")
        build(lib / "libmemoir_simcuda.so", "".join(f"void {name}(void) {{}}\n" for name in shows))
        shutil.copy(pathlib.Path(__file__).parents[2] / "simcuda/profiles.txt", lib / "simulated_gpus.txt")
        build(site / "torch/lib/libtorch_cuda.so", "".join(f"void {n}(void);\n" for n in imports) + "void torch_f(void) {" + "".join(f"{n}();" for n in imports) + "}\n")
        return doctor(subject, "--simulated", program=tmp_path / "tree/bin/memoir", PYTHONPATH=site)

    return simulated


def test_all_that_torch_imports_is_stood_in_for(simulated, doctor):
    names = ["cudaMalloc", "__cudaGetKernel", "cuInit", "ncclSend"]
    is_line(simulated("simulated CUDA", [*names, "memcpy", "cuddle", "ncclRecv"], [*names, "ncclRecv"]), "ok",
            "has all 5 functions that torch 9.9.1 imports")
    is_line(simulated("simulated GPU", names, names), "ok", "h100, h100-pcie, ")
    for subject in (doctor("simulated GPU"), doctor("simulated CUDA"), doctor("real libraries")):
        assert subject == [], "only where it is asked for"


def test_what_the_simulated_device_lacks_is_named(simulated):
    is_line(simulated("simulated CUDA", ["cudaMalloc", "cudaNew", "ncclNewer"], ["cudaMalloc", "ncclOld"]), "wrong",
            "lacks 2 of 3 functions that torch 9.9.1 imports: cudaNew, ncclNewer", "install a Memoir built beside this torch")
    many = [f"cudaNew{i:02}" for i in range(20)]
    is_line(simulated("simulated CUDA", many, ["cudaMalloc"]), "wrong", "cudaNew11 and 8 more", "built beside")


def test_libraries_that_stay_real(simulated):
    is_line(simulated("real libraries", ["cudaMalloc", "cuptiGetVersion", "cuFileOpen"], ["cudaMalloc"]), "note",
            "not replaced, used as they are: cuFileOpen, cuptiGetVersion",
            "programs that need them (GPUDirect storage, symmetric memory, CUDA activity in torch.profiler) see them fail")


def test_a_torch_without_cuda(simulated):
    is_line(simulated("simulated CUDA", ["memcpy"], ["cudaMalloc"]), "wrong", "this torch is built without CUDA", "install one with it: pip install torch")


def test_no_simulated_device_in_this_installation(doctor):
    is_line(doctor("simulated GPU", "--simulated"), "wrong", "libmemoir_simcuda.so is missing",
            "build Memoir beside a torch with CUDA, with the headers that setup/requirements.txt names")


def test_a_damaged_simulated_device(doctor, fake_tree, tmp_path):
    shutil.copytree(fake_tree, tmp_path / "tree")
    device = tmp_path / "tree/lib/memoir/libmemoir_simcuda.so"
    for content in (b"no library", b"\x7fELF\x02" + bytes(60), pathlib.Path("/bin/true").read_bytes()[:3000]):
        device.write_bytes(content)
        is_line(doctor("simulated CUDA", "--simulated", program=tmp_path / "tree/bin/memoir"), "wrong", "", "install Memoir again")
