"""Sources that the build makes, as CMake's custom commands do: the schema as C++, the face of pictures, the simulated device's tables and stand-ins."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@torch_wheel//:torch.bzl", "CUDA_INCLUDE_FOLDERS", "NEEDS_CUDA", "PYTHON")

def schema_sources(sources):
    """proto/: memoir/v1/*.pb.{h,cc} by the system's protoc, and the headers' folder."""
    schemas = [source.replace(".pb.cc", "") for source in sources]
    for schema in schemas:
        native.genrule(
            name = schema.split("/")[-1] + "_messages",
            srcs = [schema + ".proto"],
            outs = [schema + ".pb.cc", schema + ".pb.h"],
            cmd = "protoc -I $$(dirname $$(dirname $$(dirname $<))) --cpp_out=$(RULEDIR) $<",  # memoir/v1/ lies two folders below
        )
    cc_library(name = "messages", hdrs = [schema + ".pb.h" for schema in schemas], includes = ["."])

def font_source(sources):
    """tools/view/: the font file as an array."""
    native.genrule(
        name = "font_file",
        srcs = ["picture/font/DejaVuSans.ttf"],
        outs = sources,
        cmd = "(echo 'namespace memoir { extern const unsigned char kFontFile[]; const unsigned char kFontFile[] = {' && " +
              "od -An -v -tu1 $< | sed 's/ *\\([0-9][0-9]*\\)/\\1,/g' && echo '}; }') > $@",
    )

def simulated_device_sources(sources):
    """interpose/simcuda/: the tables as text, a stand-in for every function that a CUDA header declares, the table of stand-ins."""
    for table in ["Profiles", "Workspaces"]:
        file = table.lower() + ".txt"
        native.genrule(
            name = "built_in_%s_h" % table.lower(),
            srcs = [file],
            outs = ["built_in_%s.h" % table.lower()],
            cmd = "(echo 'constexpr char kBuiltIn%s[] = R\"table(' && cat $< && echo ')table\";') > $@" % table,
        )
    cc_library(name = "tables", hdrs = ["built_in_profiles.h", "built_in_workspaces.h"])
    libraries = [source[len("stubs_"):-len(".cc")] for source in sources if source.startswith("stubs_")]
    includes = " ".join(["--include '%s'" % folder for folder in CUDA_INCLUDE_FOLDERS])
    for library in libraries:
        native.genrule(
            name = "stubs_" + library,
            srcs = ["generate_stubs.py"],
            outs = ["stubs_%s.cc" % library],
            cmd = "'%s' -E $< --library %s --compiler c++ %s --output $@" % (PYTHON, library, includes),
            target_compatible_with = NEEDS_CUDA,
        )
    native.genrule(
        name = "stub_tables",
        outs = ["stub_tables.cc"],
        cmd = "cat > $@ <<'END'\n#include \"interpose/simcuda/counts.h\"\n" +
              "".join(["std::span<memoir::simcuda::StubCall> StubsOf_%s();\n" % library for library in libraries]) +
              "namespace memoir::simcuda {\nnamespace {\nconst std::span<StubCall> tables[] = {" +
              "".join(["StubsOf_%s(), " % library for library in libraries]) +
              "};\n}\nstd::span<const std::span<StubCall>> StubTables() { return tables; }\n}\nEND",
    )

def public_headers(_sources):
    """tracker/client/: memoir.h, memoir.hpp and memoir/*.hpp, as a program includes them."""
    cc_library(name = "memoir_h", hdrs = ["//tracker:memoir.h"], strip_include_prefix = "/tracker")
    cc_library(name = "memoir_hpp", hdrs = ["memoir.hpp"], strip_include_prefix = "/tracker/client")
    cc_library(
        name = "public_headers",
        hdrs = native.glob(["*.h", "*.hpp"], exclude = ["memoir.hpp"]),
        include_prefix = "memoir",
        linkopts = ["-ldl"],
        strip_include_prefix = "/tracker/client",
        deps = [":memoir_h", ":memoir_hpp"],
    )
