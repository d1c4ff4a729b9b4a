# The shapes of target, and the flags they share.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# What is shipped names no folder of the machine that built it, so two builds are equal (setup/reproducible.py). ../..: how a compiler cache knows the
# sources from build/X. Torch's folder: FindTorchWheel.cmake.
foreach(language C CXX)
  string(APPEND CMAKE_${language}_FLAGS_RELEASE " -ffile-prefix-map=${CMAKE_SOURCE_DIR}=../..")
endforeach()

add_library(memoir_flags INTERFACE)
target_include_directories(memoir_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated")
target_compile_options(memoir_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(SKBUILD)   # whoever pip-installs with a newer compiler has no use for our warnings
  option(MEMOIR_WARNINGS_ARE_ERRORS "warnings end the build" OFF)
else()
  option(MEMOIR_WARNINGS_ARE_ERRORS "warnings end the build" ON)
endif()
if(MEMOIR_WARNINGS_ARE_ERRORS)
  target_compile_options(memoir_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: at -O3 it takes `"text" + std::string()` for an overlapping copy. Can go with g++ 12.
  target_compile_options(memoir_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # It takes an element of a span that a function returned for a part of a temporary.
  target_compile_options(memoir_flags INTERFACE -Wno-dangling-reference)
endif()
if(MEMOIR_SANITIZE)
  target_compile_options(memoir_flags INTERFACE -fsanitize=${MEMOIR_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(memoir_flags INTERFACE -fsanitize=${MEMOIR_SANITIZE})
endif()

# memoir_link_for_old_glibc(<target> [LIBC_ONLY]): with MEMOIR_OLD_SYSROOT, a folder with an older system's libc and libstdc++, what is linked asks for no
# later version of theirs (docs/decisions/0008-one-wheel.md). Only linking is the older system's: headers are this one's.
if(MEMOIR_OLD_SYSROOT)
  add_library(memoir_old_glibc OBJECT "${CMAKE_SOURCE_DIR}/setup/old_glibc.c")
endif()
function(memoir_link_for_old_glibc name)
  if(NOT MEMOIR_OLD_SYSROOT)
    return()
  endif()
  set(libraries "${MEMOIR_OLD_SYSROOT}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
  # The compiler looks into its own system's folders before the sysroot's: hence these two.
  target_link_options(${name} PRIVATE "--sysroot=${MEMOIR_OLD_SYSROOT}" "-B${libraries}" "LINKER:--as-needed")
  target_link_directories(${name} BEFORE PRIVATE "${MEMOIR_OLD_SYSROOT}/link" "${libraries}")
  # What is linked is what is installed: a run path of the build would leave behind how long the name of its folder is.
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH TRUE)
  target_link_libraries(${name} PRIVATE -lpthread -ldl)
  if(NOT ARGN STREQUAL "LIBC_ONLY")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:memoir_old_glibc>)
    target_link_options(${name} PRIVATE "LINKER:--wrap=log2,--wrap=exp,--wrap=log,--wrap=pow")
    target_link_libraries(${name} PRIVATE -lm)
  endif()
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")   # a library uses the program's libstdc++, of which it then asks for no more than the older one has
    target_link_options(${name} PRIVATE -static-libstdc++)
  endif()
endfunction()

# memoir_library(<name> SRCS ... [DEPS ...]): a static library of ours.
function(memoir_library name)
  cmake_parse_arguments(arg "" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SRCS})
  target_link_libraries(${name} PRIVATE memoir_flags PUBLIC ${arg_DEPS})
endfunction()

# memoir_process_library(<name> EXPORTS <version script> SRCS ... [DEPS ...]): a shared library that lives in the profiled
# program, installed in lib/memoir. It shows the symbols of its version script and nothing else, is never unloaded (hooks may run
# until the process is gone), and carries no run path: it must not change what the program finds.
function(memoir_process_library name)
  cmake_parse_arguments(arg "" "EXPORTS" "SRCS;DEPS" ${ARGN})
  add_library(${name} SHARED ${arg_SRCS})
  target_link_libraries(${name} PRIVATE memoir_flags ${arg_DEPS})
  target_link_options(${name} PRIVATE
    "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS}" "LINKER:--exclude-libs,ALL" "LINKER:-z,nodelete" "LINKER:--as-needed")
  if(NOT MEMOIR_SANITIZE)
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
  endif()
  set_target_properties(${name} PROPERTIES LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS}" SKIP_BUILD_RPATH TRUE)
  memoir_link_for_old_glibc(${name})
  install(TARGETS ${name} LIBRARY DESTINATION "${MEMOIR_LIB_DIR}")
endfunction()

# memoir_program(<name> SRCS ... [DEPS ...])
function(memoir_program name)
  cmake_parse_arguments(arg "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${arg_SRCS})
  target_link_libraries(${name} PRIVATE memoir_flags ${arg_DEPS})
  memoir_link_for_old_glibc(${name})
endfunction()

# memoir_text_header(<text file> <header> <variable>): a header in the build folder with the file's text as a constant, so that data stays a file.
function(memoir_text_header file header variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  set(built "${CMAKE_BINARY_DIR}/generated/${header}")
  file(WRITE "${built}.new" "// ${file}, as the build made it.\nconstexpr char ${variable}[] = R\"text(\n${text})text\";\n")
  configure_file("${built}.new" "${built}" COPYONLY)
endfunction()

# memoir_test_cost(<entry>): ctest begins with what takes longest, so that both ends of a run keep all cores busy; tests/costs.txt says what that is.
file(STRINGS "${CMAKE_SOURCE_DIR}/tests/costs.txt" memoir_test_costs REGEX "^[0-9]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/costs.txt")
function(memoir_test_cost name)
  foreach(line IN LISTS memoir_test_costs)
    if(line MATCHES "^([0-9]+) ([^ ]+)( in_thirds)?$" AND CMAKE_MATCH_2 STREQUAL name)
      set_tests_properties(${name} PROPERTIES COST ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# memoir_test(<name> SRCS ... [DEPS ...] [LABELS ...]): a GoogleTest program, one ctest entry.
function(memoir_test name)
  cmake_parse_arguments(arg "" "" "SRCS;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SRCS})
  target_link_libraries(${name} PRIVATE memoir_flags ${arg_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT "${arg_DEPS}" MATCHES "[Tt]orch|Cuda")   # those have definitions of their own
    memoir_use_common_headers(memoir_test_headers ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  memoir_test_cost(${name})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()

# memoir_folder_test(<name> [DEPS ...] [LABELS ...]): memoir_test() of all *_test.cc in this folder.
function(memoir_folder_test name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc")
  memoir_test(${name} SRCS ${sources} ${ARGN})
endfunction()

# Entries with the label `long` are left to `./dev test --all`.
# memoir_python_test(<name> <files or folder> [INSTALLED] [PYTHON interpreter] [LABELS ...]): pytest, one ctest entry. With INSTALLED it
# runs after the tree was installed into <build>/installed, and finds it in $TESTED_TREE (fixture `tree` of tests/conftest.py).
function(memoir_python_test name paths)
  cmake_parse_arguments(arg "INSTALLED" "PYTHON" "LABELS" ${ARGN})
  if(arg_INSTALLED AND MEMOIR_SANITIZE)
    return()   # a sanitizer's runtime would have to be preloaded into Python
  endif()
  if(NOT arg_PYTHON)
    set(arg_PYTHON "${MEMOIR_PYTHON}")
  endif()
  list(TRANSFORM paths PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  add_test(NAME ${name} COMMAND "${arg_PYTHON}" -m pytest -q -rs -p no:cacheprovider --durations=5 --durations-min=1 ${paths})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "TESTED_TREE=${CMAKE_BINARY_DIR}/installed" LABELS "${arg_LABELS}")
  if(arg_INSTALLED)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED installed_tree)
  endif()
  memoir_test_cost(${name})
endfunction()

# memoir_python_tests(<prefix> [options as above]): each test_*.py of this folder is an entry of its own, named <prefix>/<file without test_>, so that
# they run side by side and a slow one shows.
function(memoir_python_tests prefix)
  file(GLOB files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/test_*.py")
  set(names "")
  foreach(file IN LISTS files)
    string(REGEX REPLACE "^test_(.*)\\.py$" "${prefix}/\\1" name "${file}")
    memoir_python_test("${name}" ${file} ${ARGN})
    list(APPEND names "${name}")
  endforeach()
  set(memoir_python_test_names ${names} PARENT_SCOPE)
endfunction()
