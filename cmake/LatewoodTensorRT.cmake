# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Looks for TensorRT's C++ headers: CMake option TENSORRT_ROOT, else the environment's. Sets LATEWOOD_TENSORRT and makes the target
# LatewoodTensorRTHeaders. Nothing is linked: the libraries are opened when they are needed.
set(TENSORRT_ROOT "$ENV{TENSORRT_ROOT}" CACHE PATH "Where TensorRT's headers are: a folder with include/NvInfer.h")
set(LATEWOOD_TENSORRT OFF)
if(TENSORRT_ROOT)
  find_path(LATEWOOD_TENSORRT_INCLUDE NvInfer.h PATHS ${TENSORRT_ROOT} ${TENSORRT_ROOT}/include NO_DEFAULT_PATH)
  if(NOT LATEWOOD_TENSORRT_INCLUDE)
    message(FATAL_ERROR "There is no NvInfer.h in ${TENSORRT_ROOT}/include, which TENSORRT_ROOT names")
  endif()
  set(LATEWOOD_TENSORRT ON)
  add_library(LatewoodTensorRTHeaders INTERFACE)
  target_include_directories(LatewoodTensorRTHeaders SYSTEM INTERFACE ${LATEWOOD_TENSORRT_INCLUDE})
  # Only for two names: without a toolkit, a header of ours has them.
  find_path(LATEWOOD_CUDA_INCLUDE cuda_runtime_api.h PATHS /usr/local/cuda/include)
  if(NOT LATEWOOD_CUDA_INCLUDE)
    set(LATEWOOD_CUDA_INCLUDE ${CMAKE_SOURCE_DIR}/latewood/runtime/TensorRT/cuda)
  endif()
  target_include_directories(LatewoodTensorRTHeaders SYSTEM INTERFACE ${LATEWOOD_CUDA_INCLUDE})

  # TensorRT-RTX has no plugins, and tensors without implicit batches and places: its tables of virtual functions lack six
  # entries of TensorRT's. It can build for another GPU than the one here: four entries more. Its headers are in no registry,
  # so they are made of TensorRT's.
  set(gone "[sg]etBroadcastAcrossBatch|[sg]etLocation")
  set(before "virtual int64_t getL2LimitForTiling() const noexcept = 0@semicolon@")
  set(setCount "bool setNbComputeCapabilities(int32_t count) noexcept")
  set(getCount "int32_t getNbComputeCapabilities() const noexcept")
  set(setOne "bool setComputeCapability(int32_t capability, int32_t index) noexcept")
  set(getOne "int32_t getComputeCapability(int32_t index) const noexcept")
  set(rtx ${CMAKE_BINARY_DIR}/tensorrt-rtx/include)
  file(GLOB headers ${LATEWOOD_TENSORRT_INCLUDE}/NvInfer*.h)
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    # Semicolons separate the elements of lists.
    file(READ ${header} text)
    string(REPLACE ";" "@semicolon@" text "${text}")
    if(name STREQUAL NvInferImpl.h)
      string(REGEX REPLACE "(TRT_DEPRECATED )?virtual IPluginV[23]Layer\\* addPluginV[23]\\([^@]*@semicolon@" "" text "${text}")
      string(REGEX REPLACE "virtual [A-Za-z]+ (${gone})\\([^@]*@semicolon@" "" text "${text}")
      string(REPLACE "${before}" "${before} virtual ${setCount} = 0@semicolon@ virtual ${getCount} = 0@semicolon@ \
virtual ${setOne} = 0@semicolon@ virtual ${getOne} = 0@semicolon@" text "${text}")
    elseif(name STREQUAL NvInfer.h)
      string(REGEX REPLACE "return mImpl->addPluginV[23]\\([^@]*@semicolon@" "return nullptr@semicolon@" text "${text}")
      string(REGEX REPLACE "return mImpl->(${gone})\\([^@]*@semicolon@" "return {}@semicolon@" text "${text}")
      string(REGEX REPLACE "mImpl->(${gone})\\([^@]*@semicolon@" "" text "${text}")
      string(REGEX REPLACE "(protected:[ \n]*apiv::VBuilderConfig)" "${setCount} { return mImpl->setNbComputeCapabilities(count)@semicolon@ } \
${setOne} { return mImpl->setComputeCapability(capability, index)@semicolon@ } \\1" text "${text}")
    endif()
    string(REPLACE "@semicolon@" ";" text "${text}")
    file(CONFIGURE OUTPUT ${rtx}/${name} CONTENT "${text}" @ONLY)
  endforeach()
  add_library(LatewoodTensorRTXHeaders INTERFACE)
  target_include_directories(LatewoodTensorRTXHeaders SYSTEM INTERFACE ${rtx} ${LATEWOOD_CUDA_INCLUDE})
endif()
