"""The kinds of target. Each macro does what the function of the same name in cmake/Targets.cmake does.

Everything is linked statically except the libraries that CMake builds as shared ones, because the code depends on it (hidden symbols, thread-locals of
the initial-exec model). CMake's build has the warnings; this one has none.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_import", "cc_library", "cc_test")

def sources(*folders, exclude = []):
    """Returns the C++ sources below `folders`, without those of programs: a program's is called main.cc."""
    return native.glob([folder + "/**/*.cc" for folder in folders], exclude = ["**/main.cc"] + exclude)

def system(*names):
    """Returns the labels of libraries of the system (repositories.bzl)."""
    return ["@system_libraries//:" + name for name in names]

def quoted(name, value):
    """Returns a definition of the macro `name` as a string literal."""
    return '%s=\\"%s\\"' % (name, value)

def _copts(srcs, copts):
    """Hides symbols by default in C++. C is only in the tests' stand-in libraries, which export everything."""
    for source in srcs:
        if source.endswith(".c"):
            return copts
    return ["-std=c++20", "-fvisibility=hidden", "-fvisibility-inlines-hidden"] + copts

def memoir_library(name, srcs, deps = [], copts = [], local_defines = [], whole = False):
    """A static library. `whole` adds NAME_whole, from which the linker takes every object."""
    cc_library(
        name = name,
        srcs = srcs,
        copts = _copts(srcs, copts),
        linkstatic = True,
        local_defines = local_defines,
        deps = [":headers"] + deps,
    )
    if whole:
        native.filegroup(name = name + "_archive", srcs = [name], output_group = "archive")
        cc_import(name = name + "_import", static_library = name + "_archive", alwayslink = True)
        cc_library(name = name + "_whole", deps = [name + "_import"] + deps)

def _link_options(version_script, shared, linkopts):
    """Options in CMake's order. The libraries that every link adds at the end, libstdc++ and libm, are linked only if they are needed."""
    options = ["-Wl,--as-needed"] + linkopts
    if version_script:
        options.append("-Wl,--version-script=$(location %s)" % version_script)
    return options + ["$(location %s)" % library for library in shared] + ["-Wl,--as-needed"]

def memoir_shared_library(name, srcs = [], deps = [], shared = [], copts = [], local_defines = [], linkopts = [], data = [], version_script = None, soname = None):
    """A shared library. `shared` are libraries that it needs at run time. It searches for them in its own folder, except in the profiled program."""
    options = linkopts + ["-Wl,-soname," + (soname or name.split("/")[-1])]
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
        local_defines = local_defines,
        deps = ([":headers"] if srcs else []) + deps,
    )

def memoir_program(name, srcs, deps = [], local_defines = [], linkopts = []):
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(srcs, []),
        linkopts = _link_options(None, [], linkopts),
        local_defines = local_defines,
        deps = [":headers"] + deps,
    )

def memoir_test(name, srcs, deps = [], local_defines = [], linkopts = [], data = [], long = False):
    """A GoogleTest program. A `long` one is run only where it is named."""
    cc_test(
        name = name,
        size = "enormous" if long else "medium",
        srcs = srcs,
        copts = _copts(srcs, []),
        data = data,
        linkopts = _link_options(None, [], linkopts),
        linkstatic = True,
        local_defines = local_defines,
        tags = ["no-sandbox"] + (["manual"] if long else []),  # they fork, kill, and become other users
        deps = [":headers"] + deps + system("dl", "gtest", "gmock", "gtest_main"),
    )
