// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening libraries by name, and finding functions in them.

#include "latewood/runtime/TensorRT/Libraries.h"

#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <string>

using namespace latewood::runtime;

namespace latewood::tensorrt {

Status CUDA::check(int error, const std::string &what) const {
  if (error == 0)
    return okStatus();
  constexpr int outOfDeviceMemory = 2;
  const char *text = errorText(error);
  std::string message = what + ": " + (text ? text : "error") + " (CUDA error " + std::to_string(error) + ")";
  return error == outOfDeviceMemory ? outOfMemory(message) : unavailable(message);
}

Status CUDA::checkDevice() const {
  constexpr int driverTooOld = 35, noDevice = 100;
  int count = 0, error = deviceCount(&count);
  if (error == 0 && count > 0)
    return okStatus();
  if (error == driverTooOld)
    return unavailable(
        "TensorRT needs a driver for the GPU, and there is none, or one that is older than CUDA's runtime "
        "library asks for (CUDA error 35): install NVIDIA's driver, or a newer one");
  if (error == 0 || error == noDevice)
    return unavailable("TensorRT needs a GPU, and CUDA sees none: look at nvidia-smi and at CUDA_VISIBLE_DEVICES");
  return check(error, "TensorRT needs a GPU, and CUDA cannot be used");
}

std::string CUDA::computeCapability() const {
  constexpr int majorAttribute = 75, minorAttribute = 76;
  int current = 0, major = 0, minor = 0;
  if (device(&current) != 0 || deviceAttribute(&major, majorAttribute, current) != 0 ||
      deviceAttribute(&minor, minorAttribute, current) != 0)
    return "unknown";
  return std::to_string(major) + "." + std::to_string(minor);
}

bool isOfOtherLibrary(const std::string &version, const Libraries &libraries) {
  bool isRTX = version.starts_with("TensorRT-RTX ");
  return (isRTX || version.starts_with("TensorRT ")) && isRTX != libraries.isRTX;
}

namespace {
StatusOr<void *> openOne(const char *variable, std::initializer_list<const char *> names, const std::string &what,
                         const std::string &advice) {
  std::string problem;
  if (const char *given = std::getenv(variable); given && *given)
    names = {}, problem = given;
  if (!problem.empty()) {
    if (void *handle = dlopen(problem.c_str(), RTLD_NOW | RTLD_LOCAL))
      return handle;
    const char *why = dlerror();
    return unavailable(what + " cannot be opened, as " + variable + " says: " + (why ? why : problem));
  }
  for (const char *name : names) {
    if (void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return handle;
    const char *why = dlerror();
    if (problem.empty())
      problem = why ? why : name;
  }
  return unavailable(what + " cannot be opened: " + problem + "; " + advice);
}

template <typename Function>
Status find(void *library, const char *what, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function ? okStatus() : unavailable(std::string(what) + " has no function " + name);
}

std::string versionText(int32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Status openAll(Libraries &libraries) {
  LATEWOOD_ASSIGN_OR_RETURN(
      void *inference, openOne("LATEWOOD_TENSORRT_LIBRARY", {"libtensorrt_rtx.so.1", "libnvinfer.so.11"}, "TensorRT",
                               "install TensorRT, or TensorRT-RTX (pip install tensorrt-rtx-cu13-libs), and let "
                               "LATEWOOD_TENSORRT_LIBRARY name its library"));
  LATEWOOD_ASSIGN_OR_RETURN(void *cuda,
                            openOne("LATEWOOD_CUDART_LIBRARY", {"libcudart.so.13", "libcudart.so.12", "libcudart.so"},
                                    "CUDA's runtime library",
                                    "install it (pip install nvidia-cuda-runtime), and let LATEWOOD_CUDART_LIBRARY "
                                    "name its library"));
  const char *ofCUDA = "CUDA's runtime library";
  CUDA &functions = libraries.cuda;
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaGetDeviceCount", functions.deviceCount));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaGetDevice", functions.device));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaDeviceGetAttribute", functions.deviceAttribute));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaMallocAsync", functions.allocate));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaFreeAsync", functions.release));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaMemcpyAsync", functions.copy));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaStreamCreateWithFlags", functions.createStream));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaStreamDestroy", functions.destroyStream));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaStreamSynchronize", functions.synchronize));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaEventCreateWithFlags", functions.createEvent));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaEventDestroy", functions.destroyEvent));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaEventRecord", functions.record));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaStreamWaitEvent", functions.wait));
  LATEWOOD_RETURN_IF_ERROR(find(cuda, ofCUDA, "cudaGetErrorString", functions.errorText));

  int32_t (*version)();
  LATEWOOD_RETURN_IF_ERROR(find(inference, "TensorRT", "getInferLibVersion", version));
  libraries.version = version();
  // TensorRT's own numbers begin at 8.
  libraries.isRTX = libraries.version < 80000;
  libraries.name = std::string(libraries.isRTX ? "TensorRT-RTX " : "TensorRT ") + versionText(libraries.version);
  // Interfaces are tables of virtual functions, which grow within a major version and change with it.
  if (!libraries.isRTX && libraries.version / 10000 != NV_TENSORRT_MAJOR)
    return unavailable("the library of TensorRT is " +
                       std::string(libraries.version / 10000 < NV_TENSORRT_MAJOR ? "too old: " : "too new: ") +
                       libraries.name + ", where this build of Latewood needs TensorRT " +
                       std::to_string(NV_TENSORRT_MAJOR) + "; install that, and let LATEWOOD_TENSORRT_LIBRARY name it");
  libraries.createInferRefitter =
      reinterpret_cast<decltype(libraries.createInferRefitter)>(dlsym(inference, "createInferRefitter_INTERNAL"));
  return find(inference, "TensorRT", "createInferRuntime_INTERNAL", libraries.createInferRuntime);
}
} // namespace

StatusOr<const Libraries *> openLibraries() {
  static std::mutex mutex;
  static Libraries libraries;
  static bool isOpen = false;
  std::lock_guard lock(mutex);
  if (!isOpen) {
    LATEWOOD_RETURN_IF_ERROR(openAll(libraries));
    isOpen = true;
  }
  return &libraries;
}

} // namespace latewood::tensorrt
