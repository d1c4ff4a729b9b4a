# The torch wheel of MEMOIR_PYTHON as imported targets. torch's own find_package(Torch) wants a CUDA toolkit with nvcc, which
# the wheels do not have.
# -E: under `pip install`, PYTHONPATH names pip's own build environment and hides the packages that are installed.
#   TorchWheel::c10, TorchWheel::torch_cpu;  TorchWheel_VERSION (2.11.0), TorchWheel_MINOR (2.11), TorchWheel_CUDA (13.0 or "")
execute_process(
  COMMAND "${MEMOIR_PYTHON}" -E -c
    "import importlib.util as u, os, re; d=os.path.dirname(u.find_spec('torch').origin); t=open(d+'/version.py').read(); g=lambda n: (re.search(n + r\"[^=\\n]*= *'([^']*)'\", t) or [None, ''])[1]; print(d, g('__version__'), g('cuda'), sep=';')"
  OUTPUT_VARIABLE torch_wheel OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE torch_wheel_result ERROR_VARIABLE torch_wheel_error)
if(torch_wheel_result EQUAL 0)
  list(GET torch_wheel 0 TorchWheel_DIR)
  list(GET torch_wheel 1 torch_wheel_full)
  list(GET torch_wheel 2 TorchWheel_CUDA)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" TorchWheel_VERSION "${torch_wheel_full}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" TorchWheel_MINOR "${torch_wheel_full}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchWheel
  REQUIRED_VARS TorchWheel_DIR TorchWheel_VERSION
  VERSION_VAR TorchWheel_VERSION
  REASON_FAILURE_MESSAGE "no torch for ${MEMOIR_PYTHON}: run ./dev build, or pass -DMEMOIR_PYTHON=<python with torch>")
if(TorchWheel_FOUND AND NOT TARGET TorchWheel::torch_cpu)
  foreach(library c10 torch_cpu)
    add_library(TorchWheel::${library} SHARED IMPORTED GLOBAL)
    set_target_properties(TorchWheel::${library} PROPERTIES
      IMPORTED_LOCATION "${TorchWheel_DIR}/lib/lib${library}.so"
      IMPORTED_NO_SONAME TRUE)
    target_include_directories(TorchWheel::${library} SYSTEM INTERFACE
      "${TorchWheel_DIR}/include" "${TorchWheel_DIR}/include/torch/csrc/api/include")
    # The layout of at::RecordFunction depends on NDEBUG, and the wheels are built with it: so must we be, in every build type.
    target_compile_definitions(TorchWheel::${library} INTERFACE NDEBUG)
  endforeach()
  target_link_libraries(TorchWheel::torch_cpu INTERFACE TorchWheel::c10)
endif()
