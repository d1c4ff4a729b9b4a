# aarch64 from another machine: Debian's cross compiler, and what setup/aarch64.py puts into build/aarch64-system (`./dev aarch64`).
#   root      Debian's arm64 packages: headers, libraries, and what programs need to start in qemu
#   torch-*   an environment for each torch: this machine's interpreter, aarch64's torch
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
get_filename_component(memoir_checkout "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(memoir_foreign_system "${memoir_checkout}/build/aarch64-system")
set(CMAKE_SYSROOT "${memoir_foreign_system}/root")

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64;-L;${CMAKE_SYSROOT}")   # runs the tests

# Programs that build (protoc, Python) are this machine's; the rest is not. CUDA's headers lie beside the interpreter's torch, hence the checkout.
set(CMAKE_FIND_ROOT_PATH "${CMAKE_SYSROOT}" "${memoir_checkout}/build")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
