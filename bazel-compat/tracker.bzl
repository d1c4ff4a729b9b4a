"""The recorder (tracker/): the writer of captures, the session, the hooks in torch, and the headers of other projects."""

load("@system_libraries//:versions.bzl", "MEMOIR_VERSION")
load("@torch_wheel//:torch.bzl", "CUDA_IS_HERE", "TORCH_MINOR")
load("//bazel-compat:made_sources.bzl", "capture_fields", "public_headers")
load("//bazel-compat:rules.bzl", "memoir_library", "memoir_program", "memoir_shared_library", "quoted", "sources", "system")

_PROCESS_LIBRARY = ["-Wl,--exclude-libs,ALL", "-Wl,-z,nodelete", "-Wl,--as-needed", "-Wl,-z,defs"]

def tracker_targets():
    public_headers()
    capture_fields()

    memoir_library(name = "writer", srcs = sources("tracker/writer"), deps = [":capture_fields", ":interpose"] + system("protozero", "xxhash", "zstd"))

    # A folder has one source, no_*.cc, for builds without CUPTI's headers.
    memoir_library(
        name = "cupti",
        srcs = sources("tracker/cupti", exclude = ["**/no_*.cc"]) if CUDA_IS_HERE else native.glob(["tracker/cupti/no_*.cc"]),
        deps = (["@torch_wheel//:cuda_headers"] if CUDA_IS_HERE else []) + system("dl"),
    )

    # Everything of the recorder that does not include torch's headers.
    memoir_library(
        name = "recorder",
        srcs = sources("tracker", exclude = ["tracker/cupti/**", "tracker/torch/**", "tracker/writer/**"]),
        local_defines = [
            quoted("MEMOIR_LIBEXEC_DIR", "libexec/memoir"),
            quoted("MEMOIR_TORCH_MINOR", TORCH_MINOR),
            quoted("MEMOIR_VERSION", MEMOIR_VERSION),
        ],
        whole = True,
        deps = [":cupti", ":writer"] + system("dl"),
    )
    memoir_program(
        name = "memoir-drain",
        srcs = ["tracker/drain/main.cc"],
        linkopts = ["-l:libstdc++.a", "-static-libgcc"],
        deps = [":recorder", ":writer", ":interpose"],
    )

    memoir_library(
        name = "hooks",
        srcs = sources("tracker/torch"),
        whole = True,
        deps = ["@torch_wheel//:torch_cpu", "@torch_wheel//:cuda_headers"],
    )
    memoir_shared_library(
        name = "libmemoir_tracker-torch%s.so" % TORCH_MINOR,
        linkopts = _PROCESS_LIBRARY,
        shared = [":libmemoir_interpose.so"],
        version_script = "tracker/torch/exports.map",
        deps = [":hooks_whole", ":recorder_whole", "@torch_wheel//:torch_cpu", "@torch_wheel//:c10"],
    )
    native.filegroup(
        name = "python_packages",
        srcs = native.glob(["python/*/**/*.py", "python/*/py.typed"]),
    )
