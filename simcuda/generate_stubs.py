#!/usr/bin/env python3
"""Writes a default stand-in for every function that a CUDA library's headers declare, so that the compiler checks each signature.

    generate_stubs.py --library cudart --compiler c++ --include DIR... --output FILE

The stand-ins are weak: a definition of the function in simcuda/api/ replaces them. The name and parameters of a function determine
what its stand-in does:
  - the stand-in counts its calls;
  - X...Create(handle*) writes a new opaque handle, X...Destroy(handle) frees it;
  - X...bufferSize and similar functions write 0 to each output parameter whose name contains "size" or "work";
  - a function that computes, and receives a handle or a stream, queues one piece of work on this stream or on the stream of this handle;
    X...SetStream(handle, stream) sets the stream of a handle;
  - the driver and the runtime return "not supported" if the caller expects a result through a pointer; everything else succeeds,
    because work on the device has nothing to do.
"""

import argparse
import re
import subprocess
import sys
import tempfile

# library -> (headers, pattern of its functions' names, {type of status: (success, not supported)})
LIBRARIES = {
    "cuda": (["cuda.h"], r"cu[A-Z]\w*", {"CUresult": ("CUDA_SUCCESS", "CUDA_ERROR_NOT_SUPPORTED")}),
    "cudart": (["cuda_runtime_api.h"], r"cuda[A-Z]\w*", {"cudaError_t": ("cudaSuccess", "cudaErrorNotSupported")}),
    "cublas": (["cublas_v2.h"], r"cublas[A-Z]\w*", {}),
    "cublasLt": (["cublasLt.h"], r"cublasLt[A-Z]\w*", {}),
    "cudnn": (["cudnn.h"], r"cudnn[A-Z]\w*", {}),
    "cufft": (["cufftXt.h"], r"cufft[A-Z]\w*", {}),
    "curand": (["curand.h"], r"curand[A-Z]\w*", {}),
    "cusolver": (["cusolverDn.h", "cusolverSp.h", "cusolverRf.h"], r"cusolver[A-Z]\w*", {}),
    "cusparse": (["cusparse.h"], r"cusparse[A-Z]\w*", {}),
    "cusparseLt": (["cusparseLt.h"], r"cusparseLt[A-Z]\w*", {}),
    "nccl": (["nccl.h"], r"p?nccl[A-Z]\w*", {}),
}
SIZES = re.compile(r"(_bufferSize\w*|WorkspaceSize\w*|SpaceSizes?|StatesSize|EstimateMany|GetSize\w*|MakePlan\w*)$")
HANDLE = re.compile(r"(cublas|cudnn|cusolverDn|cusolverSp|cusparse)Handle_t")
NO_WORK = re.compile(r"Create|Destroy|Set|Get|Query|Init|Version|Logger|Heuristic|[bB]ufferSize|SpaceSize|Workspace|Finalize|Attribute")
WORD = re.compile(r"\b(int|char|void|long|short|unsigned|signed|float|double|const|struct|enum)\b")


def preprocessed(compiler, includes, headers):
    """The headers' declarations as C, without macros, comments and line marks."""
    with tempfile.NamedTemporaryFile("w", suffix=".h") as source:
        source.write("".join(f"#include <{header}>\n" for header in headers))
        source.flush()
        command = [compiler, "-E", "-P", "-x", "c", *(f"-I{folder}" for folder in includes), source.name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            command[command.index("c")] = "c++"  # cusparse.h and other headers need C++ for complex numbers
            done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"generate_stubs.py: {' '.join(command)}:\n{done.stderr}")
    return done.stdout


def statements(text):
    """Yields each statement at the top level, without bodies in braces. The content of `extern "C" {` counts as top level."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__asm__\s*\([^)]*\)|\[\[[^\]]*\]\]", " ", text)
    text = re.sub(r'extern\s+"C(\+\+)?"\s*\{', ";", text)
    statement, depth = [], 0
    for part in re.split(r"([{};])", text):
        if part == "{":
            depth += 1
        elif part == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and not re.match(r"\s*(typedef|struct|enum|union)\b", "".join(statement)):
                statement = []
        elif part == ";" and depth == 0:
            yield " ".join("".join(statement).split())
            statement = []
        elif depth == 0:
            statement.append(part)


def split_parameters(text):
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    if current.strip() not in ("", "void"):
        parts.append(current.strip())
    return parts


def named(parameter, index):
    """Returns (type, name, text of the parameter with that name). For a function pointer or an array, type and name are None, and the text is unchanged."""
    if "(" in parameter or "[" in parameter:
        return None, None, parameter
    match = re.match(r"^(.*[\s*])(\w+)$", parameter)
    if match and not WORD.fullmatch(match.group(2)) and not re.fullmatch(r"(const|struct|enum)\s*", match.group(1)):
        return match.group(1).strip(), match.group(2), parameter
    return parameter, f"p{index}", f"{parameter} p{index}"


def prototypes(text, pattern):
    """Returns a dictionary: name -> (type of result, parameters)."""
    function = re.compile(rf"^(.+?[\s*])({pattern})\s*\((.*)\)$")
    found = {}
    for statement in statements(text):
        match = function.match(statement)
        if match and not re.match(r"(typedef|return|static|inline)\b", statement) and "=" not in match.group(1):
            result = re.sub(r"\b(extern|__inline__|inline|static)\b|__declspec\(\w+\)", "", match.group(1)).strip()
            found.setdefault(match.group(2), (result, split_parameters(match.group(3))))
    return found


def is_out(kind):
    """Whether the caller expects a result through a parameter of this type: a pointer that is neither const nor void*."""
    return kind is not None and kind.endswith("*") and not kind.startswith("const ") and not re.fullmatch(r"void\s*\*", kind)


def work(name, parameters, statuses):
    """Returns the statement that queues a library function's work. Functions of the driver and the runtime are written by hand and get no such statement."""
    handle = next((parameter for kind, parameter, _ in parameters[:1] if kind and HANDLE.fullmatch(kind)), None)
    stream = next((parameter for kind, parameter, _ in parameters if kind == "cudaStream_t"), None)
    if statuses:
        return []
    if handle and stream and re.search(r"SetStream(_v2)?$", name):
        return [f"memoir::simcuda::SetStreamOf({handle}, {stream});"]
    if NO_WORK.search(name) or not (handle or stream) or name.startswith(("nccl", "pnccl")):
        return []
    return [f"memoir::simcuda::QueueWorkOn({stream});" if stream else f"memoir::simcuda::QueueWorkOf({handle});"]


def body(index, name, result, parameters, statuses):
    lines = [f"calls[{index}].Count();", *work(name, parameters, statuses)]
    asked = False
    for kind, parameter, _ in parameters:
        if statuses:
            asked = asked or is_out(kind) or (kind and re.fullmatch(r"void\s*\*", kind) and re.search(r"Get|Export", name))
        elif is_out(kind) and re.search(r"Create|Open", name):
            lines.append(f"memoir::simcuda::OutHandle({parameter});")
        elif kind and "Destroy" in name and not kind.endswith("*"):
            lines.append(f"memoir::simcuda::FreeHandle({parameter});")
        elif is_out(kind) and SIZES.search(name) and re.search(r"(?i)size|work", parameter) and re.match(r"(size_t|int)\s*\*", kind):
            lines.append(f"if ({parameter} != nullptr) *{parameter} = 0;")
    if result in statuses:
        lines.append(f"return {statuses[result][1 if asked else 0]};")
    elif result.endswith("*"):
        lines.append(f"return const_cast<{result}>(reinterpret_cast<const {result.replace('const', '')}>(\"simulated\"));")
    elif result != "void":
        lines.append("return {};")
    return " ".join(lines)


def generate(library, compiler, includes):
    headers, pattern, statuses = LIBRARIES[library]
    found = prototypes(preprocessed(compiler, includes, headers), pattern)
    if len(found) < 10:
        sys.exit(f"generate_stubs.py: only {len(found)} functions in {headers}: are they the right headers?")
    lines = [f"// Made by generate_stubs.py from {', '.join(headers)}: never by hand, never committed.", *(f"#include <{h}>" for h in headers)]
    lines += [f'#include "simcuda/{header}"' for header in ("api/library_work.h", "kernels/counts.h", "process/handles.h")]
    lines += ["namespace {", "memoir::simcuda::StubCall calls[] = {"]
    lines += [f'    {{"{name}"}},' for name in sorted(found)]
    lines += ["};", "}  // namespace", f"std::span<memoir::simcuda::StubCall> StubsOf_{library}() {{ return calls; }}"]
    lines += ['#pragma GCC visibility push(default)', 'extern "C" {']
    for index, name in enumerate(sorted(found)):
        result, texts = found[name]
        parameters = [named(text, i) for i, text in enumerate(texts)]
        signature = ", ".join(parameter for _, _, parameter in parameters)
        lines.append(f"__attribute__((weak)) {result} {name}({signature}) {{ {body(index, name, result, parameters, statuses)} }}")
    return "\n".join([*lines, "}", "#pragma GCC visibility pop", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True, choices=LIBRARIES)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    text = generate(options.library, options.compiler, options.include)
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
