"""The schema (proto/), the interposer and the simulated CUDA device (interpose/)."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//bazel-compat:made_sources.bzl", "schema_sources", "simulated_device_sources")
load("//bazel-compat:rules.bzl", "memoir_library", "memoir_shared_library", "sources", "system")

_CPP_FLAGS = ["-fno-exceptions", "-ftls-model=initial-exec"]

def interposer_targets():
    # The headers of the whole tree, so that a new folder or an #include of another folder changes nothing here.
    cc_library(
        name = "headers",
        hdrs = native.glob(
            ["%s/**/*.%s" % (folder, suffix) for folder in ["interpose", "proto", "tests", "tools", "tracker"] for suffix in ["def", "h", "hpp"]],
            allow_empty = True,
            exclude = ["tools/web/**"],
        ),
        includes = ["proto"],
    )
    memoir_library(name = "proto", srcs = schema_sources(), deps = [":messages"] + system("protobuf"))

    memoir_library(
        name = "interpose",
        srcs = sources("interpose", exclude = ["interpose/simcuda/**"]),
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

    memoir_library(name = "user_tables", srcs = sources("interpose/simcuda/user_tables"), copts = ["-fno-exceptions"])
    memoir_library(
        name = "simcuda",
        srcs = sources("interpose/simcuda", exclude = ["interpose/simcuda/api/nvml*.cc", "interpose/simcuda/user_tables/**"]),
        copts = _CPP_FLAGS,
        whole = True,
        deps = [":simcuda_tables", ":user_tables", "@torch_wheel//:cuda_headers"] + system("threads"),
    )
    memoir_library(
        name = "simcuda_stubs",
        srcs = simulated_device_sources(),
        copts = _CPP_FLAGS + ["-O1"],
        whole = True,
        deps = ["@torch_wheel//:cuda_headers"],
    )
    memoir_shared_library(
        name = "libmemoir_simcuda.so",
        data = [":simulated/libnvidia-ml.so.1"],
        linkopts = ["-Wl,-z,nodelete", "-Wl,--exclude-libs,ALL", "-Wl,--as-needed", "-l:libstdc++.a", "-Wl,-z,defs"],
        soname = "libcuda.so.1",
        version_script = "interpose/simcuda/exports.map",
        deps = [":simcuda_whole", ":simcuda_stubs_whole", ":user_tables"],
    )
    memoir_shared_library(
        name = "simulated/libnvidia-ml.so.1",
        srcs = native.glob(["interpose/simcuda/api/nvml*.cc"]),
        copts = ["-fno-exceptions"],
        linkopts = ["-Wl,-z,nodelete", "-Wl,--as-needed"],
    )
