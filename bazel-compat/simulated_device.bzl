"""The simulated CUDA device (simcuda/), and the library that computes values of small tensors on it."""

load("@torch_wheel//:torch.bzl", "TORCH_MINOR")
load("//bazel-compat:made_sources.bzl", "simulated_device_sources")
load("//bazel-compat:rules.bzl", "memoir_library", "memoir_shared_library", "sources", "system")

_CPP_FLAGS = ["-fno-exceptions", "-ftls-model=initial-exec"]

def simulated_device_targets():
    memoir_library(name = "user_tables", srcs = sources("simcuda/user_tables"), copts = ["-fno-exceptions"])
    memoir_library(
        name = "simcuda",
        srcs = sources("simcuda", exclude = ["simcuda/api/nvml*.cc", "simcuda/torch_values/**", "simcuda/user_tables/**"]),
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
        version_script = "simcuda/exports.map",
        deps = [":simcuda_whole", ":simcuda_stubs_whole", ":user_tables"],
    )
    memoir_shared_library(
        name = "simulated/libnvidia-ml.so.1",
        srcs = native.glob(["simcuda/api/nvml*.cc"]),
        copts = ["-fno-exceptions"],
        linkopts = ["-Wl,-z,nodelete", "-Wl,--as-needed"],
    )
    memoir_shared_library(
        name = "libmemoir_values-torch%s.so" % TORCH_MINOR,
        srcs = sources("simcuda/torch_values"),
        linkopts = ["-Wl,--exclude-libs,ALL", "-Wl,-z,nodelete", "-Wl,--as-needed", "-Wl,-z,defs"],
        shared = [":libmemoir_interpose.so"],
        version_script = "simcuda/torch_values/exports.map",
        deps = ["@torch_wheel//:torch_cpu", "@torch_wheel//:cuda_headers", "@torch_wheel//:c10_cuda"],
    )
