# Precompiled headers: half of a build's time went into reading the same headers of libstdc++, Abseil, protobuf and GoogleTest again. Sources include all
# they use as before; Bazel and clang-tidy read them without these.
set(memoir_common_headers
  <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <utility> <vector>)
if(NOT (MEMOIR_BUILD_TOOLS OR MEMOIR_BUILD_TESTS))
  return()
endif()

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/common_headers.cc" CONTENT "int main() {}\n")

# Libraries of the tools.
add_library(memoir_tool_headers OBJECT "${CMAKE_BINARY_DIR}/generated/common_headers.cc")
target_link_libraries(memoir_tool_headers PRIVATE memoir_flags memoir_proto absl::flat_hash_map absl::status absl::statusor absl::strings)
target_precompile_headers(memoir_tool_headers PRIVATE ${memoir_common_headers}
  <absl/container/flat_hash_map.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <memoir/v1/capture.pb.h>)
get_target_property(memoir_fmt_is_alias memoir_fmt ALIASED_TARGET)
if(NOT memoir_fmt_is_alias)   # where it is header-only, a definition of its own must be the same in all that use the precompiled header
  target_link_libraries(memoir_tool_headers PRIVATE memoir_fmt)
  target_precompile_headers(memoir_tool_headers PRIVATE <fmt/format.h>)
endif()

# Programs of GoogleTest: they are compiled as a program is, not as a library.
if(MEMOIR_BUILD_TESTS)
  add_executable(memoir_test_headers EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/generated/common_headers.cc")
  target_link_libraries(memoir_test_headers PRIVATE memoir_flags memoir_proto absl::flat_hash_map absl::status absl::statusor absl::strings GTest::gtest GTest::gmock)
  target_precompile_headers(memoir_test_headers PRIVATE ${memoir_common_headers}
    <absl/container/flat_hash_map.h> <absl/status/statusor.h> <memoir/v1/capture.pb.h> <gmock/gmock.h> <gtest/gtest.h>)
endif()

# The preset `dev` compiles the tools and their tests with -O1, which takes less time than -O2. The recorder keeps -O2, because tests count its instructions.
# At -O1, g++ 12 calls std::optional values uninitialized that are set.
set(memoir_less_optimised "$<$<CONFIG:RelWithDebInfo>:-O1>" "$<$<AND:$<CONFIG:RelWithDebInfo>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>")

set(launcher "${CMAKE_SOURCE_DIR}/cmake/without_old_output.sh" ${CMAKE_CXX_COMPILER_LAUNCHER})
foreach(owner IN ITEMS memoir_tool_headers memoir_test_headers)
  if(TARGET ${owner})
    set_target_properties(${owner} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
    target_compile_options(${owner} PRIVATE ${memoir_less_optimised})
  endif()
endforeach()

# memoir_use_common_headers(<owner> <target>...): these read the owner's precompiled headers first.
function(memoir_use_common_headers owner)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    target_compile_options(${target} PRIVATE ${memoir_less_optimised})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)   # without it ccache stores nothing
      if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # From a precompiled header g++ 12 takes pieces of std::string's own buffer for arrays that are too small.
        target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
      endif()
    endif()
  endforeach()
endfunction()
