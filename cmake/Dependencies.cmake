# Every dependency, looked up in one place. Debian's packages, linked statically where an installed program uses them.
find_package(Threads REQUIRED)

# memoir_static_library(<target> <archive> [LIBS ...]): an imported static library from the system's archive.
function(memoir_static_library target archive)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  find_library(${target}_ARCHIVE NAMES ${archive} REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${target}_ARCHIVE}")
  if(arg_LIBS)
    target_link_libraries(${target} INTERFACE ${arg_LIBS})
  endif()
endfunction()

# memoir_use_archives(<package>): its imported targets stand for the static archives that lie beside their shared libraries.
# Distributions' CMake files name the shared ones, and a macro is needed because imported targets belong to their folder.
macro(memoir_use_archives package)
  get_property(imported_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target ${imported_targets})
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    if(NOT target MATCHES "^${package}::" OR NOT configurations)
      continue()
    endif()
    foreach(configuration ${configurations})
      get_target_property(location ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${location}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${archive}")
      endif()
    endforeach()
  endforeach()
endmacro()

memoir_static_library(memoir_zstd libzstd.a)

add_library(memoir_xxhash INTERFACE)          # header-only use: XXH_INLINE_ALL
target_compile_definitions(memoir_xxhash INTERFACE XXH_INLINE_ALL)
find_path(MEMOIR_XXHASH_INCLUDE xxhash.h REQUIRED)

add_library(memoir_protozero INTERFACE)
find_path(MEMOIR_PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)

if(MEMOIR_BUILD_TOOLS OR MEMOIR_BUILD_TESTS)
  find_package(absl REQUIRED)
  memoir_use_archives(absl)
  find_program(MEMOIR_PROTOC protoc REQUIRED)
  memoir_static_library(memoir_protobuf libprotobuf.a LIBS Threads::Threads)
  memoir_static_library(memoir_protobuf_zlib libz.a)
  find_package(fmt REQUIRED)
  add_library(memoir_fmt ALIAS fmt::fmt-header-only)
  add_library(memoir_cli11 INTERFACE)
  find_path(MEMOIR_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
  find_path(MEMOIR_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
endif()
if(MEMOIR_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()
if(MEMOIR_BUILD_TRACKER)
  find_package(TorchWheel REQUIRED)
  if(TorchWheel_CUDA AND MEMOIR_BUILD_TESTS)   # so far only a test compiles with them
    find_package(CudaWheel REQUIRED)
  endif()
endif()
