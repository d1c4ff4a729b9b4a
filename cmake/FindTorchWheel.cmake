# The torch wheel of TorchWheel_PYTHON as imported targets. torch's own find_package(Torch) wants a CUDA toolkit with nvcc, which
# the wheels do not have. To be called once for each interpreter; each torch minor has its own targets.
# -E: under `pip install`, PYTHONPATH names pip's own build environment and hides the packages that are installed.
#   TorchWheel-2.11::c10, TorchWheel-2.11::torch_cpu; those of the first call also as TorchWheel::c10, TorchWheel::torch_cpu
#   TorchWheel_VERSION (2.11.0), TorchWheel_MINOR (2.11; of a nightly all of its version), TorchWheel_CUDA (13.0 or ""), and of all calls TorchWheel_MINORS
#   TorchWheel_PYTHON_2.11: the interpreter
execute_process(
  COMMAND "${TorchWheel_PYTHON}" -E -c
    "import importlib.util as u, os, re; d=os.path.dirname(u.find_spec('torch').origin); t=open(d+'/version.py').read(); g=lambda n: (re.search(n + r\"[^=\\n]*= *'([^']*)'\", t) or [None, ''])[1]; print(d, g('__version__'), g('cuda'), sep=';')"
  OUTPUT_VARIABLE torch_wheel OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE torch_wheel_result ERROR_VARIABLE torch_wheel_error)
unset(TorchWheel_DIR)
if(torch_wheel_result EQUAL 0)
  list(GET torch_wheel 0 TorchWheel_DIR)
  list(GET torch_wheel 1 torch_wheel_full)
  list(GET torch_wheel 2 TorchWheel_CUDA)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" TorchWheel_VERSION "${torch_wheel_full}")
  # As minor_of() of python/_torch_memoir/_library.py and tools/cli/installed/python_facts.cc.
  if(torch_wheel_full MATCHES "^([0-9]+\\.[0-9]+)\\.[0-9]+(rc[0-9]+|\\.post[0-9]+)?(\\+.*)?$")
    set(TorchWheel_MINOR "${CMAKE_MATCH_1}")
  else()
    set(TorchWheel_MINOR "${torch_wheel_full}")
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchWheel
  REQUIRED_VARS TorchWheel_DIR TorchWheel_VERSION
  VERSION_VAR TorchWheel_VERSION
  REASON_FAILURE_MESSAGE "no torch for ${TorchWheel_PYTHON}: run ./dev build, or pass -DMEMOIR_PYTHON=<python with torch>")

# Wheels before 2.7 were mostly built with the old std::string. The library says which: its symbols name std::__cxx11, or do not.
function(memoir_torch_wheel_abi variable)
  file(STRINGS "${TorchWheel_DIR}/lib/libc10.so" found LIMIT_COUNT 1
    REGEX "_ZN3c10.*NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE")
  if(found)
    set(${variable} 1 PARENT_SCOPE)
  else()
    set(${variable} 0 PARENT_SCOPE)
  endif()
endfunction()

if(TorchWheel_FOUND AND TARGET TorchWheel-${TorchWheel_MINOR}::torch_cpu)
  message(FATAL_ERROR "two of the interpreters have torch ${TorchWheel_MINOR}; a tracker serves all of a minor")
elseif(TorchWheel_FOUND)
  memoir_torch_wheel_abi(torch_wheel_abi)
  get_filename_component(torch_wheel_packages "${TorchWheel_DIR}" DIRECTORY)
  foreach(library c10 torch_cpu)
    set(torch_wheel_target TorchWheel-${TorchWheel_MINOR}::${library})
    add_library(${torch_wheel_target} SHARED IMPORTED GLOBAL)
    set_target_properties(${torch_wheel_target} PROPERTIES
      IMPORTED_LOCATION "${TorchWheel_DIR}/lib/lib${library}.so"
      IMPORTED_NO_SONAME TRUE)
    target_include_directories(${torch_wheel_target} SYSTEM INTERFACE
      "${TorchWheel_DIR}/include" "${TorchWheel_DIR}/include/torch/csrc/api/include")
    # The layout of at::RecordFunction depends on NDEBUG, and the wheels are built with it: so must we be, in every build type.
    target_compile_definitions(${torch_wheel_target} INTERFACE NDEBUG _GLIBCXX_USE_CXX11_ABI=${torch_wheel_abi})
    target_compile_options(${torch_wheel_target} INTERFACE "$<$<CONFIG:Release>:-ffile-prefix-map=${torch_wheel_packages}=torch>")
  endforeach()
  target_link_libraries(TorchWheel-${TorchWheel_MINOR}::torch_cpu INTERFACE TorchWheel-${TorchWheel_MINOR}::c10)
  if(MEMOIR_OLD_SYSROOT)   # torch's headers write into string streams
    target_sources(TorchWheel-${TorchWheel_MINOR}::c10 INTERFACE "${CMAKE_SOURCE_DIR}/setup/old_libstdcxx.cc")
  endif()
  if(NOT TARGET TorchWheel::torch_cpu)
    add_library(TorchWheel::c10 ALIAS TorchWheel-${TorchWheel_MINOR}::c10)
    add_library(TorchWheel::torch_cpu ALIAS TorchWheel-${TorchWheel_MINOR}::torch_cpu)
  endif()
  list(APPEND TorchWheel_MINORS "${TorchWheel_MINOR}")
  set(TorchWheel_PYTHON_${TorchWheel_MINOR} "${TorchWheel_PYTHON}")
endif()
