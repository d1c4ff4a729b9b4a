"""The schema (proto/) and the interposer (interpose/)."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//bazel-compat:made_sources.bzl", "schema_sources")
load("//bazel-compat:rules.bzl", "memoir_library", "memoir_shared_library", "sources", "system")

_CPP_FLAGS = ["-fno-exceptions", "-ftls-model=initial-exec"]

def interposer_targets():
    # The headers of the whole tree, so that a new folder or an #include of another folder changes nothing here.
    cc_library(
        name = "headers",
        hdrs = native.glob(
            ["%s/**/*.%s" % (folder, suffix) for folder in ["interpose", "proto", "simcuda", "tests", "tools", "tracker"] for suffix in ["def", "h", "hpp"]],
            allow_empty = True,
            exclude = ["tools/web/**"],
        ),
        includes = ["proto"],
    )
    memoir_library(name = "proto", srcs = schema_sources(), deps = [":messages"] + system("protobuf"))

    memoir_library(
        name = "interpose",
        srcs = sources("interpose"),
        copts = _CPP_FLAGS + ["-fno-rtti", "-fno-threadsafe-statics"],
        whole = True,
        deps = system("threads"),
    )
    memoir_shared_library(
        name = "libmemoir_interpose.so",
        linkopts = ["-lc", "-lgcc", "-Wl,-z,nodelete", "-Wl,--exclude-libs,ALL", "-Wl,-z,now", "-nodefaultlibs", "-Wl,-z,defs"],
        version_script = "interpose/exports.map",
        deps = [":interpose_whole"],
    )
