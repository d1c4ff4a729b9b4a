# The CUDA headers of the nvidia-* wheels beside the torch of MEMOIR_PYTHON: there is no CUDA toolkit, and none is needed, because
# nothing of CUDA is linked (its functions are found in the process at run time).
#   CudaWheel::headers;  CudaWheel_VERSION (13.0), CudaWheel_INCLUDE_DIR
#   CudaWheel_HAS_CUPTI: CUPTI's are among them
#   CudaWheel_LIBRARY_INCLUDE_DIRS: those of cuDNN, NCCL and, where it is there (CudaWheel_HAS_CUSPARSELT), cuSPARSELt; empty without both of the
#   first two
# torch brings the runtime's headers; they include crt/ (wheel nvidia-cuda-crt), and the C++ ones CCCL (nvidia-cuda-cccl).
execute_process(
  COMMAND "${MEMOIR_PYTHON}" -E -c "import nvidia; print(*list(nvidia.__path__), sep=';')"
  OUTPUT_VARIABLE cuda_wheel_roots OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(cuda_wheel_folders ${cuda_wheel_roots})
list(TRANSFORM cuda_wheel_folders APPEND "/cu13/include")
unset(CudaWheel_INCLUDE_DIR CACHE)   # another MEMOIR_PYTHON has other wheels
find_path(CudaWheel_INCLUDE_DIR cuda_runtime_api.h PATHS ${cuda_wheel_folders} NO_DEFAULT_PATH)

if(CudaWheel_INCLUDE_DIR)
  file(STRINGS "${CudaWheel_INCLUDE_DIR}/cuda_runtime_api.h" cuda_wheel_define REGEX "#define CUDART_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+$" cuda_wheel_number "${cuda_wheel_define}")
  math(EXPR cuda_wheel_major "${cuda_wheel_number} / 1000")
  math(EXPR cuda_wheel_minor "${cuda_wheel_number} % 1000 / 10")
  set(CudaWheel_VERSION "${cuda_wheel_major}.${cuda_wheel_minor}")

  # Finding one header proves little: the wheels come apart, so compile what we include.
  file(WRITE "${CMAKE_BINARY_DIR}/cuda_wheel_check.cc" "#include <cuda.h>\n#include <cuda_runtime_api.h>\n#include <cuda/std/version>\n"
    "int main() { return static_cast<int>(cudaSuccess); }\n")
  try_compile(CudaWheel_COMPILES "${CMAKE_BINARY_DIR}/cuda_wheel_check" "${CMAKE_BINARY_DIR}/cuda_wheel_check.cc"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CudaWheel_INCLUDE_DIR};${CudaWheel_INCLUDE_DIR}/cccl" OUTPUT_VARIABLE cuda_wheel_output)
  if(NOT CudaWheel_COMPILES)
    message(STATUS "CudaWheel: the headers in ${CudaWheel_INCLUDE_DIR} do not compile:\n${cuda_wheel_output}")
  endif()
endif()

set(CudaWheel_HAS_CUPTI OFF)
if(CudaWheel_INCLUDE_DIR AND EXISTS "${CudaWheel_INCLUDE_DIR}/cupti.h")   # wheel nvidia-cuda-cupti
  set(CudaWheel_HAS_CUPTI ON)
endif()

unset(CudaWheel_CUDNN_INCLUDE_DIR CACHE)
unset(CudaWheel_NCCL_INCLUDE_DIR CACHE)
unset(CudaWheel_CUSPARSELT_INCLUDE_DIR CACHE)
find_path(CudaWheel_CUDNN_INCLUDE_DIR cudnn.h PATHS ${cuda_wheel_roots} PATH_SUFFIXES cudnn/include NO_DEFAULT_PATH)
find_path(CudaWheel_NCCL_INCLUDE_DIR nccl.h PATHS ${cuda_wheel_roots} PATH_SUFFIXES nccl/include NO_DEFAULT_PATH)
find_path(CudaWheel_CUSPARSELT_INCLUDE_DIR cusparseLt.h PATHS ${cuda_wheel_roots} PATH_SUFFIXES cusparselt/include NO_DEFAULT_PATH)
set(CudaWheel_LIBRARY_INCLUDE_DIRS "")
if(CudaWheel_CUDNN_INCLUDE_DIR AND CudaWheel_NCCL_INCLUDE_DIR)
  set(CudaWheel_LIBRARY_INCLUDE_DIRS "${CudaWheel_CUDNN_INCLUDE_DIR}" "${CudaWheel_NCCL_INCLUDE_DIR}")
  set(CudaWheel_HAS_CUSPARSELT OFF)
  if(CudaWheel_CUSPARSELT_INCLUDE_DIR)
    set(CudaWheel_HAS_CUSPARSELT ON)
    list(APPEND CudaWheel_LIBRARY_INCLUDE_DIRS "${CudaWheel_CUSPARSELT_INCLUDE_DIR}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaWheel
  REQUIRED_VARS CudaWheel_INCLUDE_DIR CudaWheel_COMPILES
  VERSION_VAR CudaWheel_VERSION
  REASON_FAILURE_MESSAGE "no complete CUDA headers for ${MEMOIR_PYTHON}: run ./dev build, or install setup/requirements.txt there")
if(CudaWheel_FOUND AND NOT TARGET CudaWheel::headers)
  add_library(CudaWheel::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(CudaWheel::headers SYSTEM INTERFACE "${CudaWheel_INCLUDE_DIR}" "${CudaWheel_INCLUDE_DIR}/cccl")
endif()
