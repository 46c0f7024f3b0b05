# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where, and the package that find_package(Latewood) finds. Two install components, Runtime and
# Compiler; the Python package has its own (python), which a plain install leaves out.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Latewood)

# latewood_install(COMPONENT TARGETS…): libraries and tools, exported as Latewood::…
function(latewood_install component)
  install(TARGETS ${ARGN} EXPORT Latewood${component}Targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT Latewood${component}Targets NAMESPACE Latewood:: DESTINATION ${package_folder} COMPONENT ${component})
endfunction()

# latewood_install_headers(COMPONENT FOLDER FILES…)
function(latewood_install_headers component folder)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/${folder}/)
  install(FILES ${ARGN} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT ${component})
endfunction()

set_target_properties(LatewoodRuntime PROPERTIES EXPORT_NAME Runtime)
latewood_install(Runtime LatewoodRuntime latewood-run)
latewood_install_headers(Runtime latewood/runtime
  latewood.h Client.h DLPack.h ElementType.h Executable.h Export.h Memory.h Ref.h Session.h Signature.h Statistics.h
  Status.h Storage.h Stream.h Trace.h Value.h)
latewood_install_headers(Runtime latewood/format abi.h executable.fbs)

if(LATEWOOD_TENSORRT)
  # Found by the runtime, by name, beside itself.
  install(TARGETS LatewoodTensorRT LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime)
endif()

if(LATEWOOD_BUILD_COMPILER)
  # MLIR and LLVM stay where they were found, which is not where the loader looks by itself.
  set_target_properties(LatewoodCompiler latewood-compile latewood-opt PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  set_target_properties(LatewoodCompiler PROPERTIES EXPORT_NAME Compiler)
  latewood_install(Compiler LatewoodCompiler latewood-compile latewood-opt)
  latewood_install_headers(Compiler latewood/compiler/Driver Compiler.h Diagnostics.h Options.h)
endif()

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/LatewoodConfig.cmake.in
  ${CMAKE_BINARY_DIR}/cmake/LatewoodConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/LatewoodConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/LatewoodConfig.cmake ${CMAKE_BINARY_DIR}/cmake/LatewoodConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT Runtime)
