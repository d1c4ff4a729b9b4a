"""What is not ours, where the machine has it: nothing is downloaded."""

# name -> (Debian's package, a header that it has, archives or None for headers alone)
_SYSTEM_LIBRARIES = {
    "benchmark": ("libbenchmark-dev", "benchmark/benchmark.h", []),
    "cli11": ("libcli11-dev", "CLI/CLI.hpp", []),
    "fmt": ("libfmt-dev", "fmt/format-inl.h", []),
    "gmock": ("libgmock-dev", "gmock/gmock.h", ["gmock", "gtest"]),
    "gtest": ("libgtest-dev", "gtest/gtest.h", ["gtest"]),
    "gtest_main": ("libgtest-dev", "gtest/gtest.h", ["gtest_main", "gtest"]),
    "json": ("nlohmann-json3-dev", "nlohmann/json.hpp", []),
    "libdw": ("libdw-dev liblzma-dev libbz2-dev zlib1g-dev", "elfutils/libdwfl.h", ["dw", "elf", "lzma", "bz2", "z"]),
    "protobuf": ("libprotobuf-dev protobuf-compiler", "google/protobuf/message.h", ["protobuf"]),
    "protobuf_zlib": ("zlib1g-dev", "zlib.h", ["z"]),
    "protozero": ("libprotozero-dev", "protozero/pbf_writer.hpp", []),
    "sodium": ("libsodium-dev", "sodium.h", ["sodium"]),
    "sqlite": ("libsqlite3-dev", "sqlite3.h", ["sqlite3"]),
    "stb": ("libstb-dev", "stb/stb_image_write.h", []),
    "xxhash": ("libxxhash-dev", "xxhash.h", []),
    "zstd": ("libzstd-dev", "zstd.h", ["zstd"]),
}
_ABSEIL = ["flat_hash_map", "flat_hash_set", "span", "status", "statusor", "str_format", "strings"]
_DEFINES = {"xxhash": ["XXH_INLINE_ALL"]}

_LIBRARY = """
cc_library(
    name = "{name}",
    defines = {defines},
    linkopts = {linkopts},
)
"""
_MISSING = """
missing_package(
    name = "{name}",
    message = "{message}",
)
"""

def _archive(ctx, name):
    """Whether the compiler finds lib<name>.a."""
    found = ctx.execute(["cc", "-print-file-name=lib%s.a" % name]).stdout.strip()
    return found.startswith("/")

def _header(ctx, name):
    return ctx.execute(["sh", "-c", "echo '#include <%s>' | c++ -std=c++20 -x c++ -M - >/dev/null" % name]).return_code == 0

def _static_options(ctx, *packages):
    """The archives that pkg-config names, each by its file, or None."""
    done = ctx.execute(["pkg-config", "--static", "--libs"] + list(packages))
    if done.return_code != 0:
        return None
    options = []
    for option in done.stdout.strip().split(" "):
        name = option[2:] if option.startswith("-l") else ""
        options.append("-l:lib%s.a" % name if name and _archive(ctx, name) else option)
    return options

def _system_libraries(ctx):
    text = ['load("@rules_cc//cc:defs.bzl", "cc_library")']
    text.append('load(":missing.bzl", "missing_package")')
    text.append('package(default_visibility = ["//visibility:public"])')
    for name, option in {"threads": "-lpthread", "dl": "-ldl"}.items():
        text.append(_LIBRARY.format(name = name, defines = [], linkopts = [option]))
    fmt = "0"
    for name, (package, header, archives) in _SYSTEM_LIBRARIES.items():
        missing = [header] if not _header(ctx, header) else []
        missing += ["lib%s.a" % archive for archive in archives if not _archive(ctx, archive)]
        defines, linkopts = _DEFINES.get(name, []), ["-l:lib%s.a" % archive for archive in archives]
        if name == "protobuf" and not missing:
            if not ctx.which("protoc"):
                missing = ["protoc"]
            linkopts = _static_options(ctx, "protobuf") or linkopts + ["-lpthread"]
        elif name == "benchmark":  # a shared library, as CMake takes it
            linkopts = ["-lbenchmark"]
        elif name == "sqlite":
            linkopts = linkopts + ["-lm", "-lpthread", "-ldl"]
        elif name == "fmt" and not missing:
            fmt = ctx.execute(["sh", "-c", "echo '#include <fmt/core.h>\\nFMT_VERSION' | c++ -x c++ -E -P - | tail -n 1"]).stdout.strip()
            if fmt[:-4] != "9":  # what is to be instantiated is another list in each major version
                defines = ["FMT_HEADER_ONLY"]
        if missing:
            message = "Memoir needs %s, which is not here: apt-get install %s" % (missing[0], package)
            text.append(_MISSING.format(name = name, message = message))
        else:
            text.append(_LIBRARY.format(name = name, defines = defines, linkopts = linkopts))
    for name in _ABSEIL:
        linkopts = _static_options(ctx, "absl_" + name) if ctx.which("pkg-config") else None
        if linkopts == None:
            package = "libabsl-dev" if ctx.which("pkg-config") else "pkg-config"
            message = "Memoir needs %s, which is not here: apt-get install %s" % ("Abseil" if ctx.which("pkg-config") else "pkg-config", package)
            text.append(_MISSING.format(name = "absl_" + name, message = message))
        else:
            text.append(_LIBRARY.format(name = "absl_" + name, defines = [], linkopts = linkopts))
    ctx.file("BUILD.bazel", "\n".join(text))
    ctx.file("versions.bzl", "FMT_IS_9 = %r\nMEMOIR_VERSION = %r\n" % (fmt[:-4] == "9", ctx.read(Label("//:VERSION")).strip()))
    ctx.file("missing.bzl", """
def _missing_package(ctx):
    fail(ctx.attr.message)

missing_package = rule(implementation = _missing_package, attrs = {"message": attr.string()})
""")

system_libraries = repository_rule(
    implementation = _system_libraries,
    doc = "The libraries of the system. One that is missing stops only what needs it, with the name of its package.",
    environ = ["PATH", "PKG_CONFIG_PATH"],
    local = True,
)

# As cmake/FindTorchWheel.cmake, and the wheels of NVIDIA beside it.
_FIND_TORCH = """
import importlib.util as u, os, re
s = u.find_spec('torch')
d = os.path.dirname(s.origin) if s and s.origin else ''
t = open(d + '/version.py').read() if d else ''
print(d)
print((re.search("__version__[^=]*= *'([0-9]+[.][0-9]+)", t) or [None, ''])[1])
n = u.find_spec('nvidia')
print(os.pathsep.join(n.submodule_search_locations) if n else '')
print(int(b'_ZN3c10' in open(d + '/lib/libc10.so', 'rb').read() and bool(re.search(b'_ZN3c10[0-9A-Za-z_]*NSt7__cxx1112basic_string', open(d + '/lib/libc10.so', 'rb').read()))) if d else 1)
"""

_TORCH = """
load("@rules_cc//cc:defs.bzl", "cc_library")
package(default_visibility = ["//visibility:public"])
constraint_setting(name = "what_is_here")
constraint_value(name = "needs_a_python_with_torch_see_docs_packaging_bazel_md", constraint_setting = ":what_is_here")
constraint_value(name = "needs_the_cuda_headers_of_torchs_wheels_see_docs_packaging_bazel_md", constraint_setting = ":what_is_here")
_TORCH_HERE = {torch_here}
_CUDA_HERE = {cuda_here}
_NEEDS_TORCH = [] if _TORCH_HERE else [":needs_a_python_with_torch_see_docs_packaging_bazel_md"]
_NEEDS_CUDA = [] if _CUDA_HERE else [":needs_the_cuda_headers_of_torchs_wheels_see_docs_packaging_bazel_md"]

# The layout of at::RecordFunction depends on NDEBUG, and the wheels are built with it: so must be what includes their headers.
cc_library(
    name = "torch_headers",
    hdrs = glob(["torch/include/**"]) if _TORCH_HERE else [],
    defines = ["NDEBUG", "_GLIBCXX_USE_CXX11_ABI={abi}"],
    includes = ["torch/include", "torch/include/torch/csrc/api/include"],
    target_compatible_with = _NEEDS_TORCH,
)
cc_library(name = "c10", linkopts = ["{lib}/libc10.so"], deps = [":torch_headers"], target_compatible_with = _NEEDS_TORCH)
cc_library(name = "torch_cpu", linkopts = ["{lib}/libtorch_cpu.so"], deps = [":c10"], target_compatible_with = _NEEDS_TORCH)
cc_library(name = "c10_cuda", linkopts = ["{lib}/libc10_cuda.so"], target_compatible_with = _NEEDS_TORCH)

# For programs: libtorch.so, which needs the CUDA half where there is one, and where all of it lies.
cc_library(
    name = "torch",
    linkopts = ["-Wl,--push-state,--no-as-needed", "{lib}/libtorch.so", "-Wl,--pop-state", "-Wl,--allow-shlib-undefined"],
    deps = [":torch_cpu", ":run_path"],
    target_compatible_with = _NEEDS_TORCH,
)
cc_library(name = "run_path", linkopts = ["-Wl,-rpath,{lib}"], target_compatible_with = _NEEDS_TORCH)
cc_library(
    name = "cuda_headers",
    hdrs = glob([folder + "/**" for folder in {cuda_folders}]) if _CUDA_HERE else [],
    includes = {cuda_includes},
    target_compatible_with = _NEEDS_CUDA,
)
"""

_TORCH_FACTS = """
TORCH_IS_HERE = %r
CUDA_IS_HERE = %r
TORCH_MINOR = %r
PYTHON = %r
CUDA_INCLUDE_FOLDERS = %r
NEEDS_CUDA = [] if CUDA_IS_HERE else ["@torch_wheel//:needs_the_cuda_headers_of_torchs_wheels_see_docs_packaging_bazel_md"]
"""

def _torch_wheel(ctx):
    python = ctx.attr.python or ctx.os.environ.get("MEMOIR_PYTHON") or str(ctx.path(Label("//:VERSION")).dirname) + "/build/venv/bin/python"
    found = ctx.execute([python, "-E", "-c", _FIND_TORCH]) if ctx.path(python).exists else None
    lines = found.stdout.split("\n") if found and found.return_code == 0 else ["", "", "", "1"]
    torch, minor, nvidia, abi = lines[0], lines[1], [each for each in lines[2].split(":") if each], lines[3]
    if torch:
        ctx.symlink(torch + "/include", "torch/include")
    folders = {}
    for root in nvidia:
        for name, folder in {"cuda": "cu13", "cudnn": "cudnn", "nccl": "nccl", "cusparselt": "cusparselt"}.items():
            if name not in folders and ctx.path("%s/%s/include" % (root, folder)).exists:
                folders[name] = "%s/%s/include" % (root, folder)
    for name, folder in folders.items():
        ctx.symlink(folder, "cuda_headers/" + name)
    includes = [each for name in folders for each in (["cuda_headers/cuda", "cuda_headers/cuda/cccl"] if name == "cuda" else ["cuda_headers/" + name])]
    ctx.file("BUILD.bazel", _TORCH.format(
        torch_here = bool(torch),
        cuda_here = len(folders) == 4,
        abi = abi,
        lib = torch + "/lib",
        cuda_folders = ["cuda_headers/" + name for name in folders],
        cuda_includes = includes,
    ))
    ctx.file("torch.bzl", _TORCH_FACTS % (bool(torch), len(folders) == 4, minor or "0.0", python, [
        each
        for name, folder in folders.items()
        for each in ([folder, folder + "/cccl"] if name == "cuda" else [folder])
    ]))

torch_wheel = repository_rule(
    implementation = _torch_wheel,
    attrs = {"python": attr.string(doc = "path of an interpreter")},
    doc = "torch's wheel and NVIDIA's beside it, of `python`, else of MEMOIR_PYTHON, else of build/venv. Without them what needs them is left out of `//...`.",
    environ = ["MEMOIR_PYTHON"],
    local = True,
)
