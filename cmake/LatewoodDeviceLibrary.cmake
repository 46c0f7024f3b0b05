# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the device library and the source file that embeds it.
#
# latewood_device_library(OUT FOLDER SOURCES...): compiles the C files to one bitcode module per target level, and
# FOLDER/Runtime.c to an archive of a native object; OUT becomes the list of sources to compile into the compiler. The
# target latewood-device-library builds the files in the binary folder Library, for tests.
#
# The library always needs clang of the LLVM that reads the bitcode, whatever compiler builds the rest.

find_program(LATEWOOD_CLANG NAMES clang-22 clang HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_program(LATEWOOD_LLVM_LINK NAMES llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
find_program(LATEWOOD_LLVM_AR NAMES llvm-ar HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)

# Freestanding and without builtins: the compiler must not see a function in a loop. No contraction: kernels ask for a fused
# multiply-add by name. Hidden: only the entries of an image are exported.
set(LATEWOOD_LIBRARY_FLAGS
  --target=x86_64-unknown-linux-gnu -std=gnu23 -O2 -ffreestanding -fno-builtin -ffp-contract=off -fno-math-errno
  -fno-exceptions -fno-asynchronous-unwind-tables -fno-stack-protector -fPIC -fvisibility=hidden -fno-ident -Wall -Wextra
  -Werror)

function(latewood_device_library result folder)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(binary ${CMAKE_CURRENT_BINARY_DIR}/Library)
  file(MAKE_DIRECTORY ${binary})
  foreach(level v3 v4)
    set(modules)
    foreach(name ${ARGN})
      set(module ${binary}/${name}.${level}.bc)
      add_custom_command(
        OUTPUT ${module}
        COMMAND ${LATEWOOD_CLANG} ${LATEWOOD_LIBRARY_FLAGS} -march=x86-64-${level} -emit-llvm -MD -MF ${module}.d -MT ${module}
                -c ${source}/${name}.c -o ${module}
        DEPENDS ${source}/${name}.c
        DEPFILE ${module}.d
        COMMENT "Device library ${name} (${level})")
      list(APPEND modules ${module})
    endforeach()
    add_custom_command(
      OUTPUT ${binary}/library.${level}.bc
      COMMAND ${LATEWOOD_LLVM_LINK} ${modules} -o ${binary}/library.${level}.bc
      DEPENDS ${modules}
      COMMENT "Device library (${level})")
  endforeach()
  add_custom_command(
    OUTPUT ${binary}/rt.a ${binary}/Runtime.o
    COMMAND ${LATEWOOD_CLANG} ${LATEWOOD_LIBRARY_FLAGS} -march=x86-64-v3 -ffunction-sections -MD -MF ${binary}/Runtime.d
            -MT ${binary}/rt.a -c ${source}/Runtime.c -o ${binary}/Runtime.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${binary}/rt.a
    COMMAND ${LATEWOOD_LLVM_AR} rcsD ${binary}/rt.a ${binary}/Runtime.o
    DEPENDS ${source}/Runtime.c
    DEPFILE ${binary}/Runtime.d
    COMMENT "Device library runtime archive")

  add_custom_target(latewood-device-library
    DEPENDS ${binary}/library.v3.bc ${binary}/library.v4.bc ${binary}/rt.a ${binary}/Runtime.o)

  set(LATEWOOD_LIBRARY_V3 ${binary}/library.v3.bc)
  set(LATEWOOD_LIBRARY_V4 ${binary}/library.v4.bc)
  set(LATEWOOD_RUNTIME_ARCHIVE ${binary}/rt.a)
  set(bytes ${binary}/DeviceLibraryBytes.cpp)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/Target/DeviceLibraryBytes.cpp.in ${bytes} @ONLY)
  set_source_files_properties(${bytes} PROPERTIES
    OBJECT_DEPENDS "${LATEWOOD_LIBRARY_V3};${LATEWOOD_LIBRARY_V4};${LATEWOOD_RUNTIME_ARCHIVE}"
    SKIP_PRECOMPILE_HEADERS ON)
  set(${result} ${bytes} PARENT_SCOPE)
endfunction()
