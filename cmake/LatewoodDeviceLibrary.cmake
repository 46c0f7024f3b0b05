# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the device library and the source file that embeds it.
#
# latewood_device_library(OUT FOLDER INLINED names... CALLED names...): compiles C files of FOLDER once per target level.
# Functions that generated code inlines become one bitcode module per level; functions that stay functions, and Runtime.c
# (what instruction selection calls), become an archive of native objects per level, so that no compilation compiles them
# again. OUT becomes the list of sources to compile into the compiler, which embed all of it. The target
# latewood-device-library builds the files, in the binary folder Library, for tests.
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
  cmake_parse_arguments(arg "" "" "INLINED;CALLED" ${ARGN})
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  set(binary ${CMAKE_CURRENT_BINARY_DIR}/Library)
  file(MAKE_DIRECTORY ${binary})
  set(files)
  foreach(level v3 v4)
    set(modules)
    foreach(name ${arg_INLINED})
      latewood_compile_library(${source}/${name}.c ${binary}/${name}.${level}.bc ${level} -emit-llvm)
      list(APPEND modules ${binary}/${name}.${level}.bc)
    endforeach()
    add_custom_command(
      OUTPUT ${binary}/library.${level}.bc
      COMMAND ${LATEWOOD_LLVM_LINK} ${modules} -o ${binary}/library.${level}.bc
      DEPENDS ${modules}
      COMMENT "Device library (${level})")

    # One section per function: an image keeps the functions that it calls.
    set(objects)
    foreach(name ${arg_CALLED} Runtime)
      latewood_compile_library(${source}/${name}.c ${binary}/${name}.${level}.o ${level} -ffunction-sections)
      list(APPEND objects ${binary}/${name}.${level}.o)
    endforeach()
    add_custom_command(
      OUTPUT ${binary}/rt.${level}.a
      COMMAND ${CMAKE_COMMAND} -E rm -f ${binary}/rt.${level}.a
      COMMAND ${LATEWOOD_LLVM_AR} rcsD ${binary}/rt.${level}.a ${objects}
      DEPENDS ${objects}
      COMMENT "Device library archive (${level})")
    list(APPEND files ${binary}/library.${level}.bc ${binary}/rt.${level}.a ${objects})
  endforeach()
  add_custom_target(latewood-device-library DEPENDS ${files})

  set(LATEWOOD_LIBRARY_FOLDER ${binary})
  set(bytes ${binary}/DeviceLibraryBytes.cpp)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/Target/DeviceLibraryBytes.cpp.in ${bytes} @ONLY)
  set_source_files_properties(${bytes} PROPERTIES OBJECT_DEPENDS "${files}" SKIP_PRECOMPILE_HEADERS ON)
  set(${result} ${bytes} PARENT_SCOPE)
endfunction()

# One C file for one level.
function(latewood_compile_library source output level)
  get_filename_component(name ${output} NAME)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${LATEWOOD_CLANG} ${LATEWOOD_LIBRARY_FLAGS} -march=x86-64-${level} ${ARGN} -MD -MF ${output}.d -MT ${output}
            -c ${source} -o ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMENT "Device library ${name}")
endfunction()
