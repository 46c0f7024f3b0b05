# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Flags that all of our targets share.
#
# latewood_target(NAME): warnings, sanitizers and the linker for one target.

if(LATEWOOD_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
    OUTPUT_VARIABLE LATEWOOD_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(LATEWOOD_SANITIZER_RUNTIME "${LATEWOOD_SANITIZER_RUNTIME}" DIRECTORY)
endif()

function(latewood_target name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE -fcolor-diagnostics)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
  if(LATEWOOD_WARNINGS_AS_ERRORS)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(LATEWOOD_SANITIZE)
    string(REPLACE ";" "," sanitizers "${LATEWOOD_SANITIZE}")
    target_compile_options(${name} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer -g1)
    target_link_options(${name} PRIVATE -fsanitize=${sanitizers})
    # A Python that was not built with the sanitizer loads its runtime first, as a library; then everything shares that one.
    if(LATEWOOD_BUILD_PYTHON AND "address" IN_LIST LATEWOOD_SANITIZE)
      target_link_options(${name} PRIVATE -shared-libasan -Wl,-rpath,${LATEWOOD_SANITIZER_RUNTIME})
    endif()
  endif()
  # Fuzzers see what of the code under test an input reaches.
  if(LATEWOOD_BUILD_FUZZERS)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
