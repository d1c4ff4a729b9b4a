#include "tools/redact/public_names.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "tools/redact/built_in_torch_names.h"

namespace memoir {
namespace {

using Names = absl::flat_hash_set<std::string_view>;

// Names of torch's wrapper modules, words of Python, and texts of the tracker.
constexpr std::string_view kOtherNames[] = {
    // modules and parameters
    "module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_flat_param", "OptimizedModule",
    "CheckpointWrapper", "DistributedDataParallel", "running_var", "num_batches_tracked", "weight_ih_l0",
    "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_g", "weight_v",
    // ranges
    "AccumulateGrad", "CopySlices", "GraphRoot", "torch::autograd::AccumulateGrad", "torch::autograd::CopySlices",
    "torch::autograd::GraphRoot", "torch::autograd::UndefinedGrad", "torch::autograd::Error", "NotImplemented",
    "CompiledFunction", "CompiledFunctionBackward", "TorchDynamo Cache Lookup", "FSDP::pre_forward",
    "FSDP::post_forward", "FSDP::root_pre_forward", "FSDP::pre_backward", "FSDP::post_backward",
    "FSDP::post_backward_reshard", "FSDP::post_backward_reduce", "FSDP::root_post_backward_callback",
    "FSDP::backward_prefetch", "FSDP::forward_prefetch", "FSDP::all_gather", "FSDP::all_gather_copy_out",
    "FSDP::inputs_to_device", "FSDP::cast_forward_inputs", "FSDP::cast_forward_outputs",
    "FullyShardedDataParallel._pre_forward", "FullyShardedDataParallel._post_forward",
    "FullyShardedDataParallel._root_pre_forward", "FullyShardedDataParallel._to_kwargs",
    "FullyShardedDataParallel._pre_backward_hook", "DistributedDataParallel.forward", "DataParallel.forward",
    "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter", "ProfilerStep*", "torch.compile: gc",
    // Python
    "forward", "backward", "step", "zero_grad", "__init__", "__call__", "__next__", "__iter__", "__enter__", "__exit__",
    "__new__", "__getattr__", "__getitem__", "__setattr__", "__del__", "_call_impl", "_wrapped_call_impl", "<module>",
    "<lambda>", "<locals>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<string>", "<stdin>", "<unknown>",
    "main", "__main__", "-c", "-m", "python", "python3", "MainThread", "not known",
    // errors
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "ConnectionError", "Exception",
    "FileNotFoundError", "FloatingPointError", "ImportError", "IndexError", "KeyError", "KeyboardInterrupt",
    "MemoryError", "ModuleNotFoundError", "NameError", "NotImplementedError", "OSError", "OverflowError",
    "PermissionError", "RecursionError", "RuntimeError", "StopIteration", "SystemExit", "TimeoutError", "TypeError",
    "UnicodeDecodeError", "ValueError", "ZeroDivisionError", "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError",
    "torch.AcceleratorError", "torch.distributed.DistBackendError"};

constexpr std::string_view kFolders[] = {"",
                                         "usr",
                                         "lib",
                                         "lib64",
                                         "local",
                                         "bin",
                                         "opt",
                                         "home",
                                         "root",
                                         "tmp",
                                         "var",
                                         "mnt",
                                         "data",
                                         "src",
                                         "proc",
                                         "self",
                                         "dev",
                                         "shm",
                                         "site-packages",
                                         "dist-packages",
                                         "include",
                                         "c++",
                                         "torch",
                                         "memoir",
                                         "workspace",
                                         "x86_64-linux-gnu",
                                         "aarch64-linux-gnu",
                                         "build",
                                         "venv",
                                         ".venv",
                                         "scratch",
                                         "."};

constexpr std::string_view kExtensions[] = {"py", "pyc", "so",     "cc",  "cpp",  "cu", "cuh",   "h",      "hpp",
                                            "c",  "zip", "pickle", "pkl", "json", "gz", "ipynb", "memoir", "sh"};

// A name that begins with another name of the list precedes that name, because the first match is used.
constexpr std::string_view kLibraries[] = {"libc10_cuda",
                                           "libc10",
                                           "libtorch_cuda_linalg",
                                           "libtorch_cuda",
                                           "libtorch_cpu",
                                           "libtorch_python",
                                           "libtorch",
                                           "libcublasLt",
                                           "libcublas",
                                           "libcudart",
                                           "libcudnn",
                                           "libcuda",
                                           "libcufft",
                                           "libcufile",
                                           "libcupti",
                                           "libcurand",
                                           "libcusolver",
                                           "libcusparse",
                                           "libcutensor",
                                           "libcudss",
                                           "libnccl",
                                           "libnpp",
                                           "libnvjpeg",
                                           "libnvshmem",
                                           "libnvrtc",
                                           "libnvJitLink",
                                           "libnvToolsExt",
                                           "libmemoir",
                                           "libstdc++",
                                           "libgcc_s",
                                           "libgomp",
                                           "libomp",
                                           "libiomp",
                                           "libpython",
                                           "libmkl",
                                           "libopenblas",
                                           "libffi",
                                           "libpthread",
                                           "libdl",
                                           "librt",
                                           "libm",
                                           "libc",
                                           "linux-vdso",
                                           "ld-linux-x86-64",
                                           "ld-linux-aarch64"};

constexpr std::string_view kNamespaces[] = {"aten",      "prim",
                                            "prims",     "at",
                                            "c10",       "c10d",
                                            "torch",     "caffe2",
                                            "std",       "cub",
                                            "thrust",    "cuda",
                                            "cutlass",   "cudnn",
                                            "cublas",    "cublasLt",
                                            "nccl",      "inductor",
                                            "quantized", "profiler",
                                            "autograd",  "_c10d_functional",
                                            "fsdp",      "symm_mem",
                                            "native",    "detail",
                                            "_native"};

constexpr std::string_view kTypes[] = {"Tensor",
                                       "int",
                                       "SymInt",
                                       "float",
                                       "bool",
                                       "SymBool",
                                       "SymFloat",
                                       "Scalar",
                                       "str",
                                       "Device",
                                       "ScalarType",
                                       "Layout",
                                       "MemoryFormat",
                                       "Generator",
                                       "Stream",
                                       "Storage",
                                       "Dimname",
                                       "QScheme",
                                       "None",
                                       "Any",
                                       "complex",
                                       "number",
                                       "Dict",
                                       "t",
                                       "a",
                                       "b",
                                       "c",
                                       "d",
                                       "True",
                                       "False",
                                       "AnyEnumType",
                                       "__torch__",
                                       "const",
                                       "unsigned",
                                       "signed",
                                       "char",
                                       "short",
                                       "long",
                                       "void",
                                       "double",
                                       "auto",
                                       "operator",
                                       "lambda",
                                       "anonymous",
                                       "namespace",
                                       "decltype",
                                       "noexcept",
                                       "size_t",
                                       "uint8_t",
                                       "int32_t",
                                       "uint32_t",
                                       "int64_t",
                                       "uint64_t",
                                       "std",
                                       "vector",
                                       "string",
                                       "basic_string",
                                       "allocator",
                                       "function",
                                       "shared_ptr",
                                       "unique_ptr",
                                       "optional",
                                       "tuple",
                                       "main",
                                       "_start",
                                       "clone",
                                       "abi",
                                       "cxx11",
                                       "cold",
                                       "constprop",
                                       "isra",
                                       "part",
                                       "this"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&list)[N], std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

const Names& AllNames() {
  static const Names& names = *[] {
    auto* const all = new Names(std::begin(kOtherNames), std::end(kOtherNames));
    for (const absl::string_view name : absl::StrSplit(kTorchNames, '\n', absl::SkipEmpty()))
      all->insert({name.data(), name.size()});
    return all;
  }();
  return names;
}

// Returns true for "python3.12" and "python312.zip".
bool IsPython(std::string_view folder) {
  if (!folder.starts_with("python")) return false;
  folder.remove_prefix(6);
  if (folder.ends_with(".zip")) folder.remove_suffix(4);
  return folder.find_first_not_of("0123456789.t") == std::string_view::npos;
}

}  // namespace

bool IsPublicName(std::string_view name) { return AllNames().contains(name); }
bool IsPublicFolder(std::string_view folder) { return IsOneOf(kFolders, folder) || IsPython(folder); }
bool IsPublicExtension(std::string_view extension) { return IsOneOf(kExtensions, extension); }
bool IsPublicNamespace(std::string_view name) { return IsOneOf(kNamespaces, name); }
bool IsPublicType(std::string_view word) { return IsOneOf(kTypes, word); }

std::string_view PublicLibrary(std::string_view stem) {
  for (const std::string_view library : kLibraries) {
    if (!stem.starts_with(library)) continue;
    // These three names are so short that private names may begin with them.
    const bool whole = stem.size() == library.size() || (library != "libc" && library != "libm" && library != "librt");
    if (whole) return library;
  }
  return "";
}

}  // namespace memoir
