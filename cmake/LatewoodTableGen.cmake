# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# TableGen rules. Every generated file has a dependency file, so that a change in any included .td regenerates it, and goes
# to ${CMAKE_BINARY_DIR}/include under the path of its source: generated and written headers are included alike.
#
# latewood_tablegen(OUTPUT SOURCE FLAGS...)  one file; appended to LATEWOOD_GENERATED of the calling scope
# latewood_dialect(NAME NAMESPACE [SHARDS n] [INTERFACES]) all of Dialect/NAME/NAMEOps.td; the shard sources (op definitions, compiled
#                                            separately) are appended to LATEWOOD_DIALECT_SOURCES
# latewood_passes(FOLDER NAME)               FOLDER/Passes.td -> FOLDER/Passes.h.inc

function(latewood_tablegen output source)
  set(out ${CMAKE_BINARY_DIR}/include/latewood/compiler/${output})
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen ${ARGN} -I ${MLIR_INCLUDE_DIRS} -I ${CMAKE_SOURCE_DIR}
            ${CMAKE_CURRENT_SOURCE_DIR}/${source} --write-if-changed -o ${out} -d ${out}.d
    DEPFILE ${out}.d
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    COMMENT "Generating ${output}")
  set(LATEWOOD_GENERATED ${LATEWOOD_GENERATED} ${out} PARENT_SCOPE)
endfunction()

function(latewood_dialect name namespace)
  cmake_parse_arguments(arg "INTERFACES" "SHARDS" "" ${ARGN})
  set(td Dialect/${name}/${name}Ops.td)
  set(base Dialect/${name}/${name})
  latewood_tablegen(${base}Dialect.h.inc ${td} -gen-dialect-decls -dialect=${namespace})
  latewood_tablegen(${base}Dialect.cpp.inc ${td} -gen-dialect-defs -dialect=${namespace})
  latewood_tablegen(${base}Enums.h.inc ${td} -gen-enum-decls)
  latewood_tablegen(${base}Enums.cpp.inc ${td} -gen-enum-defs)
  latewood_tablegen(${base}Attributes.h.inc ${td} -gen-attrdef-decls -attrdefs-dialect=${namespace})
  latewood_tablegen(${base}Attributes.cpp.inc ${td} -gen-attrdef-defs -attrdefs-dialect=${namespace})
  latewood_tablegen(${base}Types.h.inc ${td} -gen-typedef-decls -typedefs-dialect=${namespace})
  latewood_tablegen(${base}Types.cpp.inc ${td} -gen-typedef-defs -typedefs-dialect=${namespace})
  if(arg_INTERFACES)
    latewood_tablegen(${base}AttrInterfaces.h.inc Dialect/${name}/${name}Interfaces.td -gen-attr-interface-decls)
    latewood_tablegen(${base}AttrInterfaces.cpp.inc Dialect/${name}/${name}Interfaces.td -gen-attr-interface-defs)
  endif()
  if(arg_SHARDS)
    latewood_tablegen(${base}Ops.h.inc ${td} -gen-op-decls -op-shard-count=${arg_SHARDS} -dialect=${namespace})
    latewood_tablegen(${base}Ops.cpp.inc ${td} -gen-op-defs -op-shard-count=${arg_SHARDS} -dialect=${namespace})
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(SHARD RANGE ${last})
      set(DIALECT ${name})
      set(source ${CMAKE_BINARY_DIR}/include/latewood/compiler/${base}OpsShard${SHARD}.cpp)
      configure_file(${CMAKE_SOURCE_DIR}/cmake/DialectShard.cpp.in ${source} @ONLY)
      list(APPEND LATEWOOD_DIALECT_SOURCES ${source})
    endforeach()
  else()
    latewood_tablegen(${base}Ops.h.inc ${td} -gen-op-decls -dialect=${namespace})
    latewood_tablegen(${base}Ops.cpp.inc ${td} -gen-op-defs -dialect=${namespace})
  endif()
  set(LATEWOOD_DIALECT_SOURCES ${LATEWOOD_DIALECT_SOURCES} PARENT_SCOPE)
  set(LATEWOOD_GENERATED ${LATEWOOD_GENERATED} PARENT_SCOPE)
endfunction()

function(latewood_passes folder name)
  latewood_tablegen(${folder}/Passes.h.inc ${folder}/Passes.td -gen-pass-decls -name ${name})
  set(LATEWOOD_GENERATED ${LATEWOOD_GENERATED} PARENT_SCOPE)
endfunction()
