# SPDX-License-Identifier: Apache-2.0
# Building for aarch64 on another machine, and running what was built under qemu. scripts/aarch64.sh makes ACLSHMEM_ROOT, a
# folder with the libraries of that architecture.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ACLSHMEM_ROOT)
set(CMAKE_SYSROOT "${ACLSHMEM_ROOT}")
set(CMAKE_FIND_ROOT_PATH "${ACLSHMEM_ROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${ACLSHMEM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ACLSHMEM_ROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${ACLSHMEM_ROOT}")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${ACLSHMEM_ROOT}")
