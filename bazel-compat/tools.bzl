"""The tools (tools/): libraries in three layers, the programs, and the library for Arrow."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@system_libraries//:versions.bzl", "FMT_IS_9", "MEMOIR_VERSION")
load("//bazel-compat:made_sources.bzl", "font_source", "text_header")
load("//bazel-compat:rules.bzl", "memoir_library", "memoir_program", "memoir_shared_library", "quoted", "sources", "system")

_MODEL = ["tools/follow", "tools/import", "tools/model", "tools/read"]
_OTHER_TARGETS = ["tools/analyze", "tools/arrow", "tools/symbolize", "tools/web"] + _MODEL
_ABSEIL = ["absl_" + name for name in ["flat_hash_map", "flat_hash_set", "span", "status", "statusor", "str_format", "strings"]]
_VERSION = [quoted("MEMOIR_VERSION", MEMOIR_VERSION)]

def tools_targets():
    memoir_library(
        name = "fmt",
        srcs = ["cmake/fmt_library.cc"] if FMT_IS_9 else [],  # as in cmake/Dependencies.cmake
        copts = ["-w"],
        deps = system("fmt"),
    )
    cc_library(
        name = "nanoarrow",
        srcs = native.glob(["third_party/nanoarrow/*.c"]),
        hdrs = native.glob(["third_party/nanoarrow/**/*.h"]),
        copts = ["-w"],
        includes = ["third_party/nanoarrow"],
        linkstatic = True,
    )

    memoir_library(
        name = "model",
        srcs = sources(*_MODEL),
        local_defines = _VERSION,
        deps = [":proto"] + system("json", "protobuf_zlib", "threads", "xxhash", "zstd", *_ABSEIL),
    )
    memoir_library(name = "analyze", srcs = sources("tools/analyze"), deps = [":model"] + system("json"))

    text_header("torch_names", {"tools/redact/built_in_torch_names.h": ("tools/redact/data/torch_names.txt", "kTorchNames")})

    # Every other folder of tools/.
    memoir_library(
        name = "tools",
        srcs = sources("tools", exclude = [folder + "/**" for folder in _OTHER_TARGETS]) + font_source(),
        local_defines = _VERSION + [
            quoted("MEMOIR_LIBEXEC_DIR", "libexec/memoir"),
            quoted("MEMOIR_LIB_DIR", "lib/memoir"),
            quoted("MEMOIR_PYTHON_DIR", "lib/memoir/python"),
        ],
        deps = [":analyze", ":fmt", ":nanoarrow", ":torch_names", ":user_tables"] + system("cli11", "json", "protozero", "sodium", "sqlite", "stb"),
    )
    memoir_program(name = "memoir", srcs = ["tools/cli/main.cc"], local_defines = _VERSION, deps = [":tools"])

    memoir_library(name = "symbolizer", srcs = sources("tools/symbolize"), deps = [":model"] + system("libdw"))
    memoir_program(name = "memoir-symbolize", srcs = ["tools/symbolize/main.cc"], deps = [":symbolizer"])

    memoir_shared_library(
        name = "libmemoir_arrow.so",
        srcs = sources("tools/arrow"),
        linkopts = ["-Wl,--exclude-libs,ALL", "-Wl,-z,nodelete", "-Wl,--as-needed", "-Wl,-z,defs"],
        version_script = "tools/arrow/exports.map",
        deps = [":nanoarrow"],
    )
