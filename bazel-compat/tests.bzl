"""The tests in C++: a program for each file tests/**/*_test.cc, with the same name except where _PREFIX has its folder.

The other C++ sources of a folder of tests are its library FOLDER/helpers.
"""

load("//bazel-compat:rules.bzl", "memoir_library", "memoir_program", "memoir_shared_library", "memoir_test", "quoted")

_EVERYTHING = [":tools", ":tests/captures/helpers"]
_INTERPOSE = "tests/interpose/"
_CUDA = "tests/interpose/cuda/"

# The libraries of the tests of a folder. Tests of other folders are linked with _EVERYTHING.
_LIBRARIES = {
    "tests/agreement": [":tools", ":recorder", ":tests/writer/helpers", ":interpose"],
    "tests/analyze": [":analyze", ":tests/captures/helpers"],
    "tests/captures": [":proto", "@system_libraries//:xxhash", "@system_libraries//:zstd"],
    "tests/cupti": [":cupti", ":interpose", "@torch_wheel//:cuda_headers"],
    "tests/follow": [":analyze", ":tests/captures/helpers"],
    "tests/host": [":recorder", ":interpose"],
    "tests/import": [":analyze"],
    "tests/interpose": [":interpose"],
    "tests/interpose/cuda": [":interpose"],
    "tests/modules": [":recorder", ":interpose"],
    "tests/read": [":analyze", ":tests/captures/helpers"],
    "tests/repeated_steps": [":recorder", ":interpose"],
    "tests/session": [":recorder", ":interpose"],
    "tests/simcuda": [":simcuda"],
    "tests/stacks": [":recorder", ":interpose"],
    "tests/symbolize": [":symbolizer"],
    "tests/writer": [":writer", ":interpose", ":proto"],
}

# Macros with the paths of files that the tests of a folder open or start. The files are their `data`.
_FILES = {
    "tests/fuzz": {"MEMOIR_RELEASED_DIR": "tests/format/released"},
    "tests/golden": {"MEMOIR_GOLDEN_DIR": "tests/golden/views"},
    "tests/interpose": {"MEMOIR_INTERPOSE_LIBRARY": "./libmemoir_interpose.so", "MEMOIR_THREADER": _INTERPOSE + "libslots_threader.so"},
    "tests/interpose/cuda": {
        "MEMOIR_CUDA_CALLER": _CUDA + "libcuda_caller.so",
        "MEMOIR_FAKE_DRIVER": _CUDA + "libfake_driver.so",
        "MEMOIR_FAKE_MANAGEMENT": _CUDA + "libfake_management.so",
        "MEMOIR_LATE_LIBRARY": _INTERPOSE + "libslots_bystander.so",
        "MEMOIR_OTHER_CALLER": _CUDA + "libother_caller.so",
        "MEMOIR_OWN_CALLER": _CUDA + "libown_caller.so",
        "MEMOIR_PROBE": _CUDA + "libfake_probe.so",
        "MEMOIR_VERSIONED_CALLER": _CUDA + "libversioned_caller.so",
        "MEMOIR_WORK_CALLER": _CUDA + "libwork_caller.so",
    },
    "tests/session": {"MEMOIR_DRAIN": "./memoir-drain"},
    "tests/simcuda": {"MEMOIR_SIMCUDA_LIBRARY": "./libmemoir_simcuda.so"},
    "tests/symbolize": {"DAMAGED_LIBRARY": "tests/symbolize/libdamaged_library.so"},
    "tests/writer": {"MEMOIR_DRAIN": "./memoir-drain", "MEMOIR_KILL_VICTIM": "tests/writer/kill_victim"},
}
_DEFINES = {
    "tests/interpose": [quoted("MEMOIR_SANITIZED", ""), quoted("MEMOIR_SLOTS_FOLDER", "tests/interpose")],
    "tests/simcuda": [quoted("MEMOIR_SANITIZED", "")],
}
_DATA = {
    "tests/interpose": [":%slibslots_%s.so" % (_INTERPOSE, name) for name in ["bystander", "callee", "caller_late", "caller_lazy", "caller_now"]],
}

# Tests in this folder expect the name that their program has in CMake.
_PREFIX = {"tests/interpose/cuda": "interpose_"}

# CMake compiles these with single sources of tracker/torch.
_ONLY_IN_CMAKE = ["tests/nvtx_memory", "tests/torch"]

# Programs and shared libraries in folders of tests: not part of the folder's helpers.
_NO_HELPERS = [
    "tests/captures/write_job.cc",
    "tests/cupti/standin_cupti.cc",
    "tests/golden/write_samples.cc",
    "tests/stacks/*_reader.cc",
    "tests/symbolize/*.cc",
    "tests/writer/kill_victim.cc",
]

_LINK_OPTIONS = {"tests/writer/disk_test": ["-Wl,--wrap=close"]}
_LONG = ["tests/writer/memory_test"]

def test_targets():
    tests = [path[:-len(".cc")] for path in native.glob(["tests/**/*_test.cc"], exclude = [folder + "/**" for folder in _ONLY_IN_CMAKE])]
    folders = {test.rpartition("/")[0]: True for test in tests}
    folders["tests/captures"] = True
    with_helpers = [folder for folder in folders if _helpers(folder)]
    for test in tests:
        folder, _, stem = test.rpartition("/")
        files = _FILES.get(folder, {})
        memoir_test(
            name = "%s/%s%s" % (folder, _PREFIX.get(folder, ""), stem),
            srcs = [test + ".cc"],
            data = _DATA.get(folder, []) + _data(files.values()),
            linkopts = _LINK_OPTIONS.get(test, []),
            local_defines = _DEFINES.get(folder, []) + [quoted(name, path) for name, path in files.items()],
            long = test in _LONG,
            deps = ([":%s/helpers" % folder] if folder in with_helpers else []) + _LIBRARIES.get(folder, _EVERYTHING),
        )
    _stand_in_libraries()
    memoir_program(name = "tests/writer/kill_victim", srcs = ["tests/writer/kill_victim.cc"], deps = [":tests/writer/helpers"] + _LIBRARIES["tests/writer"])

def _helpers(folder):
    """Declares the library of a folder's other sources. Returns whether there are any."""
    srcs = native.glob([folder + "/*.cc"], allow_empty = True, exclude = ["**/*_test.cc"] + _NO_HELPERS)
    if srcs:
        memoir_library(name = folder + "/helpers", srcs = srcs, deps = _LIBRARIES.get(folder, _EVERYTHING))
    return bool(srcs)

def _data(paths):
    """Returns labels for `paths`: those of libraries and programs that are built, and the files of folders."""
    labels = []
    for path in paths:
        name = path.replace("./", "")
        labels += native.glob([name + "/**"], allow_empty = True) or [":" + name]
    return labels

def _shared(name, source = None, folder = _CUDA, sources = [], **attributes):
    memoir_shared_library(name = "%slib%s.so" % (folder, name), srcs = [folder + (source or name) + ".c"] + sources, **attributes)

def _stand_in_libraries():
    """Libraries whose imports the interposer redirects, and a CUDA driver, runtimes and callers, all fake."""
    for name in ["bystander", "callee"]:
        _shared("slots_" + name, "slots/" + name, _INTERPOSE)
    for name, options in {"late": ["-Wl,-z,now", "-Wl,-z,relro"], "lazy": ["-Wl,-z,lazy"], "now": ["-Wl,-z,now", "-Wl,-z,relro"]}.items():
        _shared("slots_caller_" + name, "slots/caller", _INTERPOSE, linkopts = options, shared = [":%slibslots_callee.so" % _INTERPOSE])
    _shared("slots_threader", "slots/threader", _INTERPOSE, deps = ["@system_libraries//:threads"])

    _shared("fake_driver", linkopts = ["-Wl,-Bsymbolic"])
    _shared("fake_runtime", shared = [":%slibfake_driver.so" % _CUDA], version_script = _CUDA + "fake_runtime.map")
    _shared("fake_next")
    _shared(
        "cuda_caller",
        linkopts = ["-Wl,--no-as-needed", "-Wl,-z,now", "-Wl,-z,relro"],
        shared = [":%slibfake_runtime.so" % _CUDA, ":%slibfake_next.so" % _CUDA],
        deps = ["@system_libraries//:dl"],
    )
    _shared("fake_probe", "fake_driver")
    _shared("fake_management", soname = "libnvidia-ml.so.1")
    _shared("other_runtime", local_defines = ["OTHER_BLOCK=0x40000"])
    _shared("versioned_runtime", "other_runtime", local_defines = ["OTHER_BLOCK=0x41000"], version_script = _CUDA + "versioned_runtime.map")
    for name in ["other", "versioned"]:
        _shared(name + "_caller", "other_caller", linkopts = ["-Wl,-z,lazy"], shared = [":%slib%s_runtime.so" % (_CUDA, name)])
    _shared("own_caller", "other_caller", sources = [_CUDA + "other_runtime.c"], local_defines = ["OTHER_BLOCK=0x42000"], linkopts = ["-Wl,-z,lazy"])
    _shared("work_runtime")
    _shared("work_caller", shared = [":%slibwork_runtime.so" % _CUDA])

    memoir_shared_library(
        name = "tests/symbolize/libdamaged_library.so",
        srcs = ["tests/symbolize/damaged_library.cc"],
        copts = ["-O2", "-g", "-fvisibility=default"],
    )
