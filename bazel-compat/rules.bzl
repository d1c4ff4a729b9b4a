"""What the made BUILD.bazel files call. Each macro is the twin of one of cmake/Targets.cmake.

Everything is linked statically but what is a library of its own in CMake, for the code counts on it (hidden symbols, thread-locals of the
initial-exec model). Warnings are CMake's to give.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_import", "cc_library", "cc_test")
load("@system_libraries//:versions.bzl", "FMT_IS_9")

def _copts(srcs, copts):
    """C++ hides what is not marked; C, which is tests' stand-ins and others' code, does not."""
    for source in srcs:
        if source.endswith(".c"):
            return copts
    return ["-std=c++20", "-fvisibility=hidden", "-fvisibility-inlines-hidden"] + copts

def memoir_headers(name, hdrs, deps = []):
    """The headers of a folder, as `#include "folder/file.h"`."""
    cc_library(name = name, hdrs = hdrs, deps = deps)

def memoir_library(name, srcs = [], deps = [], copts = [], local_defines = [], includes = [], data = [], whole = False):
    """A static library. With `whole` also NAME_whole, of which the linker takes every object: CMake's OBJECT libraries."""
    if name == "memoir_fmt" and not FMT_IS_9:
        srcs = []  # as in cmake/Dependencies.cmake
    cc_library(
        name = name,
        srcs = srcs,
        copts = _copts(srcs, copts),
        data = data,
        includes = includes,
        linkstatic = True,
        local_defines = local_defines,
        deps = deps,
    )
    if whole:
        native.filegroup(name = name + "_archive", srcs = [name], output_group = "archive")
        cc_import(name = name + "_import", static_library = name + "_archive", alwayslink = True)
        cc_library(name = name + "_whole", deps = [name + "_import"] + [each for each in deps if not each.endswith(":headers")])

def _link_options(version_script, shared, linkopts):
    """In CMake's order; what comes behind, libstdc++ and libm of every link, is taken only where it is needed."""
    options = ["-Wl,--as-needed"] + linkopts
    if version_script:
        options.append("-Wl,--version-script=$(location %s)" % version_script)
    return options + ["$(location %s)" % library for library in shared] + ["-Wl,--as-needed"]

def memoir_shared_library(
        name,
        srcs = [],
        deps = [],
        shared = [],
        copts = [],
        local_defines = [],
        linkopts = [],
        data = [],
        version_script = None,
        soname = "",
        torch_minor = None):
    """A shared library; `shared` are libraries that it needs at run time, and looks for beside itself unless it lives in the profiled program."""
    options = list(linkopts)
    if soname != None:
        options.append("-Wl,-soname," + name)
    if shared and "-Wl,-z,nodelete" not in linkopts:
        options.append("-Wl,-rpath,$$ORIGIN")
    cc_binary(
        name = name,
        srcs = srcs,
        additional_linker_inputs = shared + ([version_script] if version_script else []),
        copts = _copts(srcs, copts),
        data = data + shared,
        linkopts = _link_options(version_script, shared, options),
        linkshared = True,
        local_defines = local_defines + (['MEMOIR_TORCH_MINOR=\\"%s\\"' % torch_minor] if torch_minor else []),
        deps = deps,
    )

def memoir_program(name, srcs, deps = [], copts = [], local_defines = [], linkopts = [], data = []):
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(srcs, copts),
        data = data,
        linkopts = _link_options(None, [], linkopts),
        local_defines = local_defines,
        deps = deps,
    )

def memoir_test(name, srcs, deps = [], copts = [], local_defines = [], linkopts = [], data = [], files = None, long = False):
    """A GoogleTest program. `files`: a pattern of what it reads of its folder. A `long` one is run only where it is named."""
    cc_test(
        name = name,
        size = "enormous" if long else "medium",
        srcs = srcs,
        copts = _copts(srcs, copts),
        data = data + (native.glob([files]) if files else []),
        linkopts = _link_options(None, [], linkopts),
        linkstatic = True,
        local_defines = local_defines,
        tags = ["no-sandbox"] + (["manual"] if long else []),  # they fork, kill, and become other users
        deps = deps,
    )
