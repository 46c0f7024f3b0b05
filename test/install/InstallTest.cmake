# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the built tree into a prefix of its own, builds the C and the C++ example against it, compiles their program,
# runs them, and compares what they print. Without the compiler, the C example is built and must report a missing file.
cmake_minimum_required(VERSION 3.25)

function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${text}${errors}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(expect text expected)
  if(NOT text STREQUAL expected)
    message(FATAL_ERROR "expected:\n${expected}\ngot:\n${text}")
  endif()
endfunction()

function(build_example folder)
  run(ignored ${CMAKE_COMMAND} -S ${SOURCE}/examples/${folder} -B ${WORK}/${folder} -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_C_COMPILER=${C} -D CMAKE_CXX_COMPILER=${CXX} ${ARGN})
  run(ignored ${CMAKE_COMMAND} --build ${WORK}/${folder})
endfunction()

file(REMOVE_RECURSE ${WORK})
run(ignored ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(file bin/latewood-run include/latewood/runtime/latewood.h include/latewood/runtime/Session.h)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} has not been installed")
  endif()
endforeach()
run(ignored ${WORK}/prefix/bin/latewood-run --help)

# Every header stands on its own, in the language that it is for.
file(GLOB headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/latewood/runtime/*.h)
foreach(header ${headers})
  set(command ${CXX} -std=c++20 -x c++)
  if(header MATCHES "latewood\\.h$")
    set(command ${C} -std=c11 -pedantic -x c)
  endif()
  file(WRITE ${WORK}/header.inc "#include <${header}>\n")
  run(ignored ${command} -Wall -Wextra -Werror -fsyntax-only -I${WORK}/prefix/include ${WORK}/header.inc)
endforeach()

build_example(c)
if(NOT COMPILER)
  execute_process(COMMAND ${WORK}/c/affine no-such-file.lwx ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 1 OR NOT errors MATCHES "affine: NotFound: cannot open 'no-such-file.lwx'")
    message(FATAL_ERROR "expected the file to be missing, got: ${errors}")
  endif()
  return()
endif()

build_example(cpp -D MLIR_DIR=${MLIR_DIR} -D LLVM_DIR=${LLVM_DIR})
run(ignored ${WORK}/prefix/bin/latewood-compile ${SOURCE}/examples/affine.mlir -o ${WORK}/affine.lwx)
run(text ${WORK}/c/affine ${WORK}/affine.lwx)
expect("${text}" "argument 0: 4 3 of f32
argument 1: 3 2 of f32
argument 2: 2 of f32
result 0: 4 2 of f32
11 22
13 24
15 26
19 32
101 22
103 24
105 26
109 32
last 32
105 26
109 32
shared: 1
InvalidArgument: function 'main', argument 1: Runtime shape mismatch: expected [3, 2], got [4, 3]
calls 3, 96 bytes of results; time: 1
b is free: 1
")
run(text ${WORK}/cpp/affine ${WORK}/cpp/affine.lwx)
expect("${text}" "main(memref<4x3xf32>, memref<3x2xf32>, memref<2xf32>) -> (memref<4x2xf32>)
11 22
13 24
15 26
19 32
in place: 1
11 22
13 24
15 26
19 32
")
