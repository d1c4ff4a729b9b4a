"""Sources that the build generates, as CMake's custom commands do, and the headers of other projects."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@torch_wheel//:torch.bzl", "CUDA_INCLUDE_FOLDERS", "NEEDS_CUDA", "PYTHON")

# As in simcuda/CMakeLists.txt.
_CUDA_LIBRARIES = ["cuda", "cudart", "cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "cusparse", "nccl", "cusparseLt"]

def schema_sources():
    """memoir/v1/*.pb.{h,cc} by the system's protoc. Returns the sources; the headers are the library `messages`."""
    schemas = [path[:-len(".proto")] for path in native.glob(["proto/memoir/v1/*.proto"])]
    native.genrule(
        name = "schema",
        srcs = [schema + ".proto" for schema in schemas],
        outs = [schema + suffix for schema in schemas for suffix in [".pb.cc", ".pb.h"]],
        cmd = "set -- $(SRCS) && protoc -I $${1%/memoir/v1/*} --cpp_out=$(RULEDIR)/proto $(SRCS)",
    )
    cc_library(name = "messages", hdrs = [schema + ".pb.h" for schema in schemas], includes = ["proto"])
    return [schema + ".pb.cc" for schema in schemas]

def capture_fields():
    """The field numbers of capture.proto, in the library `capture_fields`, as in tracker/writer/CMakeLists.txt."""
    native.genrule(
        name = "capture_fields_h",
        srcs = ["proto/field_numbers.py", "proto/memoir/v1/capture.proto"],
        outs = ["tracker/writer/events/capture_fields.h"],
        cmd = "python3 $(location proto/field_numbers.py) protoc proto memoir/v1/capture.proto $@",
    )
    cc_library(name = "capture_fields", hdrs = ["tracker/writer/events/capture_fields.h"])

def font_source():
    """The font file of pictures as an array. Returns the source."""
    native.genrule(
        name = "font_file",
        srcs = ["tools/view/picture/font/DejaVuSans.ttf"],
        outs = ["tools/view/font_file.cc"],
        cmd = "(echo 'namespace memoir { extern const unsigned char kFontFile[]; const unsigned char kFontFile[] = {' && " +
              "od -An -v -tu1 $< | sed 's/ *\\([0-9][0-9]*\\)/\\1,/g' && echo '}; }') > $@",
    )
    return ["tools/view/font_file.cc"]

def text_header(library, headers):
    """Headers with the text of a file as a constant, in one library, as memoir_text_header() makes them: {header: (file, variable)}."""
    for header, (text, variable) in headers.items():
        native.genrule(
            name = header.replace("/", "_").replace(".", "_"),
            srcs = [text],
            outs = [header],
            cmd = "(echo 'constexpr char %s[] = R\"text(' && cat $< && echo ')text\";') > $@" % variable,
        )
    cc_library(name = library, hdrs = headers.keys())

def simulated_device_sources():
    """The device's tables as text, in the library `simcuda_tables`, and default functions for everything that a CUDA header declares.

    Returns the sources of the default functions.
    """
    text_header("simcuda_tables", {
        "simcuda/configuration/built_in_profiles.h": ("simcuda/profiles.txt", "kBuiltInProfiles"),
        "simcuda/configuration/built_in_workspaces.h": ("simcuda/workspaces.txt", "kBuiltInWorkspaces"),
    })
    includes = " ".join(["--include '%s'" % folder for folder in CUDA_INCLUDE_FOLDERS])
    for library in _CUDA_LIBRARIES:
        native.genrule(
            name = "stubs_" + library,
            srcs = ["simcuda/generate_stubs.py"],
            outs = ["simcuda/stubs_%s.cc" % library],
            cmd = "'%s' -E $< --library %s --compiler c++ %s --output $@" % (PYTHON, library, includes),
            target_compatible_with = NEEDS_CUDA,
        )
    native.genrule(
        name = "stub_tables",
        outs = ["simcuda/stub_tables.cc"],
        cmd = "cat > $@ <<'END'\n#include \"simcuda/kernels/counts.h\"\n" +
              "".join(["std::span<memoir::simcuda::StubCall> StubsOf_%s();\n" % library for library in _CUDA_LIBRARIES]) +
              "namespace memoir::simcuda {\nnamespace {\nconst std::span<StubCall> tables[] = {" +
              "".join(["StubsOf_%s(), " % library for library in _CUDA_LIBRARIES]) +
              "};\n}\nstd::span<const std::span<StubCall>> StubTables() { return tables; }\n}\nEND",
    )
    return ["simcuda/stub%s.cc" % name for name in ["_tables"] + ["s_" + library for library in _CUDA_LIBRARIES]]

def public_headers():
    """memoir.h, memoir.hpp and memoir/*.hpp, as a program includes them."""
    cc_library(name = "memoir_h", hdrs = ["tracker/memoir.h"], strip_include_prefix = "tracker")
    cc_library(name = "memoir_hpp", hdrs = ["tracker/client/memoir.hpp"], strip_include_prefix = "tracker/client")
    cc_library(
        name = "public_headers",
        hdrs = native.glob(["tracker/client/*.h", "tracker/client/*.hpp"], exclude = ["tracker/client/memoir.hpp"]),
        include_prefix = "memoir",
        linkopts = ["-ldl"],
        strip_include_prefix = "tracker/client",
        deps = [":memoir_h", ":memoir_hpp"],
    )
