"""The libraries that installed programs may need, and the symbols that they may export. Each rule looks at a tree as `cmake --install` leaves it."""

import dataclasses
import fnmatch
import pathlib
import re
import subprocess

EM_X86_64 = b"\x3e\x00"  # e_machine
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
CXX = LIBC | {"libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
INTERPOSER_EXPORTS = """
  memoir_enabled_flag memoir_thread_slot memoir_own_work memoir_cuda_correlation memoir_tick_is_counter memoir_ring_layout_13 memoir_tracker InitializeInjectionNvtx2
  memoir::ChooseTick memoir::SetRecordingLevel
  memoir::RingOpen memoir::RingClose memoir::RingPath memoir::RingSetProcessInfo memoir::RingAttachThread memoir::RingReserveSlow
  memoir::RingDropRecord
  memoir::RingDefineOperator memoir::RingDefineModule memoir::RingDefineCode memoir::RingReadCounters memoir::RingCountDroppedAllocation memoir::RingCountStack
  memoir::RingExtentsWithRanges
  memoir::RingReader::*
  memoir::OwnIdentity memoir::IdentityOf memoir::IsRunning
  memoir::KeepOwnFiles memoir::ReleaseOwnFiles memoir::RunInOwnFiles memoir::RunInOwnFilesWithin memoir::RunInProgramsFiles memoir::OwnFilesMode
  memoir::RunAtThreadStart memoir::RunAtThreadStartOfLateObjects memoir::StartOwnThread
  memoir::FollowNvtx memoir::FollowParallelRegions memoir::FollowParallelRegionsOfLateObjects
  memoir::FindImported memoir::FindDefinition memoir::RedirectImports memoir::RedirectSlot
  memoir::WatchDriver memoir::StopWatchingDriver memoir::WrapNewObjects memoir::ReadDevicesLast memoir::CountUnwrappedCalls
  memoir::CudaIsInUse memoir::FollowProfilers memoir::KernelNameId
"""
TRACKER_EXPORTS = """
  memoir_start memoir_stop memoir_mark memoir_step memoir_flush memoir_snapshot memoir_pause memoir_resume memoir_level memoir_recording memoir_output memoir_torch_version
  memoir_define_module memoir_enter_module memoir_exit_module memoir_set_parameter memoir_forget_parameter memoir_recording_modules
  memoir_python_setup memoir_python_look_at_frames memoir_python_enter memoir_python_exit memoir_python_gone memoir_python_in_dynamo memoir_python_between_unseen
  memoir_set_module memoir_forget_module
  memoir_watch memoir_forked memoir_begin memoir_leave memoir_rank memoir_coordinates memoir_cuda_is_ready memoir_uncaught
  memoir_optimizer_holds memoir_parts memoir_python_tensor_layout memoir_look_at_module
  memoir_begin_range memoir_end_range memoir_module_holds memoir_program_starts memoir_recordings
  memoir_python_compiled memoir_python_compiler
  memoir_python_trace_calls memoir_python_monitor_calls memoir_python_leave_calls memoir_recording_calls
  memoir_python_call memoir_recording_holders memoir_python_saved memoir_python_buckets memoir_python_return memoir_python_builtin_call memoir_python_builtin_return
"""

ARROW_EXPORTS = """
  memoir_arrow_stream memoir_arrow_schema memoir_arrow_rows memoir_arrow_allocate memoir_arrow_release memoir_arrow_setup
  memoir_arrow_capsule_name   memoir_arrow_release_stream_capsule memoir_arrow_release_schema_capsule
"""


@dataclasses.dataclass(frozen=True)
class Binary:
    needed: frozenset
    exports: tuple | None = None  # of a process library: names without parameters, * for the members of a class


BINARIES = {
    "bin/memoir": Binary(frozenset(CXX)),
    "libexec/memoir/memoir-drain": Binary(frozenset(CXX)),
    "libexec/memoir/memoir-symbolize": Binary(frozenset(CXX)),
    "lib/memoir/libmemoir_interpose.so": Binary(frozenset(LIBC), tuple(INTERPOSER_EXPORTS.split())),
    # The functions of NVIDIA's libraries; libstdc++ is inside, and must not show; libm, glibc's own part, rounds
    # small floats.
    "lib/memoir/libmemoir_simcuda.so": Binary(frozenset(LIBC | {"libm.so.6", "libgcc_s.so.1"}), ("cu[A-Zdbsfpr]*", "__cuda*", "nccl*", "pnccl*", "memoir_simulated_*")),
    # The functions of NVIDIA's management library that torch calls.
    "lib/memoir/simulated/libnvidia-ml.so.1": Binary(frozenset(LIBC), ("nvml*",)),
    "lib/memoir/libmemoir_arrow.so": Binary(frozenset(CXX), tuple(ARROW_EXPORTS.split())),
    # Values on the simulated device: only where there is a torch with CUDA, whose allocator it follows.
    "lib/memoir/libmemoir_values-torch*.so": Binary(
        frozenset(CXX | {"libmemoir_interpose.so", "libtorch_cpu.so", "libc10.so", "libc10_cuda.so"}), ("memoir_values_start",)
    ),
    "lib/memoir/libmemoir_tracker-torch*.so": Binary(
        frozenset(CXX | {"libmemoir_interpose.so", "libtorch_cpu.so", "libc10.so"}), tuple(TRACKER_EXPORTS.split())
    ),
}


def binaries(tree):
    """(path, its entry in BINARIES or None) of every ELF file."""
    for path in sorted(pathlib.Path(tree).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            name = path.relative_to(tree).as_posix()
            yield path, next((b for pattern, b in BINARIES.items() if fnmatch.fnmatch(name, pattern)), None)


def output_of(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def process_libraries(tree):
    return ((path, binary) for path, binary in binaries(tree) if binary and binary.exports is not None)


def only_known_binaries(tree):
    """Nothing is installed that these rules do not know, and nothing that they know is missing."""
    found = list(binaries(tree))
    yield from (f"{path}: not in tests/rules/installed_rules.py" for path, binary in found if binary is None)
    yield from (f"{name}: not installed" for name, binary in BINARIES.items() if binary not in [b for _, b in found])


def needed_libraries(tree):
    """Programs start where there is only libc, libm, libstdc++ and libgcc; everything else is linked statically."""
    for path, binary in binaries(tree):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", path)))
        for name in sorted(needed - binary.needed if binary else ()):
            yield f"{path}: needs {name}"


def exported_symbols(tree):
    """A process library shows its interface and nothing else: any other name could replace one of the program's."""
    for path, binary in process_libraries(tree):
        shown = {re.sub(r"\(.*", "", line.split(" ", 2)[2]) for line in output_of("nm", "-DC", "--defined-only", path).splitlines()}
        yield from (f"{path}: shows {n}" for n in sorted(shown) if not any(fnmatch.fnmatchcase(n, e) for e in binary.exports))
        yield from (f"{path}: lacks {e}" for e in binary.exports if not fnmatch.filter(shown, e))


def no_protobuf_in_the_process(tree):
    """libtorch_cpu.so exports its own protobuf: a second one in the process would be mixed up with it."""
    for path, _ in process_libraries(tree):
        content = path.read_bytes()
        for trace in (b"6google8protobuf", b"google/protobuf", b"libprotobuf"):
            if trace in content:
                yield f"{path}: contains protobuf ({trace.decode()})"


def stays_and_moves(tree):
    """Process libraries are never unloaded, for hooks may still run; nothing has a run path, for the tree may be moved."""
    for path, binary in binaries(tree):
        dynamic = output_of("readelf", "-dW", path)
        if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
            yield f"{path}: has a run path"
        if "(TEXTREL)" in dynamic:
            yield f"{path}: needs its code to be writable"
        if binary and binary.exports is not None and "NODELETE" not in dynamic:
            yield f"{path}: can be unloaded (link with -z nodelete)"


def nothing_of_torch_by_chance(tree):
    """Some of torch's wheels show their own std::filesystem, to which a library in the process would be bound; the libstdc++ of RHEL 8 lacks it."""
    for path, _ in process_libraries(tree):
        asked = re.findall(r"^ +U (std::filesystem::.*)$", output_of("nm", "-DC", "--undefined-only", path), re.MULTILINE)
        yield from (f"{path}: asks for {name}" for name in asked)


def string_of_torch(tree):
    """A tracker calls torch with the std::string that torch's wheels were built with: the old one before 2.7 on x86-64, else std::__cxx11's."""
    for path, binary in binaries(tree):
        minor = re.search(r"libmemoir_(?:tracker|values)-torch(\d+)\.(\d+)\.so", path.name)
        if not minor:
            continue
        old = (int(minor[1]), int(minor[2])) < (2, 7) and path.read_bytes()[18:20] == EM_X86_64
        called = re.findall(r"^ +U ((?:c10|at|torch)::.*)$", output_of("nm", "-DC", "--undefined-only", path), re.MULTILINE)
        wrong = r"std::__cxx11::basic_string" if old else r"std::(string|basic_string)\b"
        yield from (f"{path}: calls {name}, with the {'new' if old else 'old'} std::string" for name in called if re.search(wrong, name))


@dataclasses.dataclass(frozen=True)
class Rule:
    check: object
    seeds: tuple  # (path, C++ source, linker options, what the violation says)

    @property
    def name(self):
        return self.check.__name__


_INTERPOSER = "lib/memoir/libmemoir_interpose.so"
CALLS_WITH_STRING = "#include <string>\nnamespace c10 { void Name(const std::string&); }\nvoid F() { c10::Name({}); }"
_LIBRARY = ("-shared", "-fPIC", "-nostartfiles")
RULES = (
    Rule(
        only_known_binaries,
        (("lib/memoir/libextra.so", "", _LIBRARY, "not in tests"), ("lib/memoir/libextra.so", "", _LIBRARY, "bin/memoir: not installed")),
    ),
    Rule(
        needed_libraries,
        (
            (_INTERPOSER, "", (*_LIBRARY, "-Wl,--no-as-needed", "-lm"), "needs libm.so.6"),
            ("bin/memoir", "int main() {}", ("-Wl,--no-as-needed", "-lz"), "needs libz.so.1"),
        ),
    ),
    Rule(
        exported_symbols,
        (
            (_INTERPOSER, "void intruder() {}", _LIBRARY, "shows intruder"),
            (_INTERPOSER, 'extern "C" void* malloc(unsigned long) { return 0; }', _LIBRARY, "shows malloc"),
            (_INTERPOSER, "", _LIBRARY, "lacks memoir_enabled_flag"),
        ),
    ),
    Rule(
        no_protobuf_in_the_process,
        (
            (_INTERPOSER, "namespace google::protobuf { void Hidden() {} }", _LIBRARY, "contains protobuf"),
            ("lib/memoir/libmemoir_tracker-torch2.11.so", 'const char* F() { return "libprotobuf"; }', _LIBRARY, "contains protobuf"),
        ),
    ),
    Rule(
        nothing_of_torch_by_chance,
        ((_INTERPOSER, '#include <filesystem>\nbool F() { return std::filesystem::exists("x"); }', _LIBRARY, "asks for std::filesystem::status"),),
    ),
    Rule(
        string_of_torch,
        (
            ("lib/memoir/libmemoir_tracker-torch2.6.so", CALLS_WITH_STRING, (*_LIBRARY, "-D_GLIBCXX_USE_CXX11_ABI=1"), "the new std::string"),
            ("lib/memoir/libmemoir_tracker-torch2.10.so", CALLS_WITH_STRING, (*_LIBRARY, "-D_GLIBCXX_USE_CXX11_ABI=0"), "the old std::string"),
        ),
    ),
    Rule(
        stays_and_moves,
        (
            (_INTERPOSER, "", _LIBRARY, "can be unloaded"),
            ("bin/memoir", "int main() {}", ("-Wl,-rpath,/opt/lib",), "has a run path"),
        ),
    ),
)
