// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding engine modules. A module is looked for beside the runtime's own library first, then where the system looks.

#include "latewood/runtime/Engine.h"

#include "latewood/runtime/Exceptions.h"

#include <dlfcn.h>
#include <map>
#include <mutex>

namespace latewood::runtime {

namespace {
/// The folder of the library, or program, that this code is in; with a slash, or empty.
std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&EngineModule::open), &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

StatusOr<EngineModule *> openModule(const std::string &library) {
  std::string file = "liblatewood_" + library + ".so", problem;
  void *handle = nullptr;
  for (const std::string &path : {ownFolder() + file, file}) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
    const char *why = dlerror();
    if (problem.empty())
      problem = why ? why : path;
  }
  if (!handle)
    return unavailable("the program has an engine for '" + library + "', whose module cannot be opened: " + problem +
                       "; it is part of builds of Latewood that were given the headers of that library");
  // Never closed: engines may live as long as the process.
  auto *entry = static_cast<const EngineModuleEntry *>(dlsym(handle, "latewood_engine_module"));
  if (!entry)
    return unavailable("'" + file + "' is no engine module");
  if (entry->version != engineModuleVersion)
    return unavailable("'" + file + "' is of another version: expected " + std::to_string(engineModuleVersion) +
                       ", got " + std::to_string(entry->version));
  return entry->make();
}
} // namespace

StatusOr<EngineModule *> EngineModule::open(const std::string &library) {
  return withoutExceptions([&]() -> StatusOr<EngineModule *> {
    static std::mutex mutex;
    // Not destroyed at the end of the process: modules are not, either.
    static auto &modules = *new std::map<std::string, EngineModule *>;
    std::lock_guard lock(mutex);
    EngineModule *&module = modules[library];
    if (!module) {
      // What was missing may be there at the next attempt.
      LATEWOOD_ASSIGN_OR_RETURN(module, openModule(library));
    }
    return module;
  });
}

} // namespace latewood::runtime
