# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Flags that all of our targets share.
#
# latewood_target(NAME): warnings, sanitizers and the linker for one target.

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
  endif()
endfunction()
