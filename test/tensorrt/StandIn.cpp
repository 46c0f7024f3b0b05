// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stand-in for TensorRT's library, for tests on machines without a GPU. It has the real interfaces, with their
// vtables, and engines that carry an executable of ours for the CPU: `in0`, `in1`, … are the arguments of its function
// `main`, and `out0`, … the results. Running an engine calls that function.
//
//   engine = "STANDIN1" <executable file>
//
// It computes on the host, and brings inputs from the device and results to it with CUDA's functions, in the stream
// that it is given: with the real CUDA library and a GPU, what runs there is everything but the computation.
//
// The library is as difficult as the real one may be. `standin_behave` takes a list of words, separated by commas:
//   twice    asks an output allocator for too little first, then for more
//   shrink   asks for too much first, then for what is needed
//   zero     asks for 0 bytes first
//   align    asks for memory of an alignment that no allocator has
//   fail     fails in the middle: after memory was asked for, before shapes are told
//   mute     tells no shape
//   late     tells shapes last, after all results were delivered; without it, each behind its result
//   wrong    tells a rank that the result has not
//   profiles has two optimization profiles: extents of 1 to 8, and of 9 to 4096
//   host     small integer inputs are tensors of the host, which shapes are computed from: values of 0 to 100
// Results whose extents the signature does not know need an allocator. `standin_fail_call(n)` lets the n-th call fail
// that may. Where STANDIN_TENSORRT_VERSION is set, that is the library's version (10701: TensorRT-RTX 1.7.1).

#include "Unused.h"
#include "latewood/runtime/latewood.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace latewood::standin {

constexpr std::string_view magic = "STANDIN1";

std::mutex behaviourMutex;
std::string behaviour;
std::atomic<int64_t> addressesSet{0}, shapesSet{0}, runs{0}, pluginLibraries{0}, failingCall{0}, calls{0};

/// Whether this call fails, as it was told to.
bool strike() {
  ++calls;
  return failingCall.load() > 0 && failingCall.fetch_sub(1) == 1;
}

bool behaves(std::string_view word) {
  std::lock_guard lock(behaviourMutex);
  return ("," + behaviour + ",").find("," + std::string(word) + ",") != std::string::npos;
}

/// CUDA's functions, of the library that the runtime uses, too.
struct CUDA {
  int (*copy)(void *, const void *, size_t, int, cudaStream_t);
  int (*synchronize)(cudaStream_t);
  int (*record)(cudaEvent_t, cudaStream_t);

  static const CUDA &get() {
    static const CUDA cuda = [] {
      const char *name = std::getenv("LATEWOOD_CUDART_LIBRARY");
      void *library = dlopen(name ? name : "libcudart.so", RTLD_NOW);
      auto find = [&](const char *function) { return library ? dlsym(library, function) : nullptr; };
      return CUDA{reinterpret_cast<decltype(copy)>(find("cudaMemcpyAsync")),
                  reinterpret_cast<decltype(synchronize)>(find("cudaStreamSynchronize")),
                  reinterpret_cast<decltype(record)>(find("cudaEventRecord"))};
    }();
    return cuda;
  }
  /// By address (cudaMemcpyDefault), and done.
  bool move(void *to, const void *from, size_t bytes, cudaStream_t stream) const {
    return copy(to, from, bytes, 4, stream) == 0 && synchronize(stream) == 0;
  }
};

DataType toDataType(latewood_element_type type) {
  static const std::map<latewood_element_type, DataType> types = {
      {LATEWOOD_TYPE_f32, DataType::kFLOAT},    {LATEWOOD_TYPE_f16, DataType::kHALF},
      {LATEWOOD_TYPE_i8, DataType::kINT8},      {LATEWOOD_TYPE_i32, DataType::kINT32},
      {LATEWOOD_TYPE_i1, DataType::kBOOL},      {LATEWOOD_TYPE_ui8, DataType::kUINT8},
      {LATEWOOD_TYPE_bf16, DataType::kBF16},    {LATEWOOD_TYPE_i64, DataType::kINT64},
      {LATEWOOD_TYPE_f8E4M3FN, DataType::kFP8},
  };
  auto found = types.find(type);
  return found == types.end() ? DataType::kE8M0 : found->second;
}

struct Engine;

struct Value {
  latewood_value_info info{sizeof(latewood_value_info)};
  bool isInput;
  size_t index;
};

struct Context final : UnusedContext, IExecutionContext {
  explicit Context(const Engine &engine);
  ~Context() override { latewood_session_release(session); }

  IExecutionContext *getPImpl() noexcept override { return this; }
  const ICudaEngine &getEngine() const noexcept override;
  void setErrorRecorder(IErrorRecorder *given) noexcept override { recorder = given; }
  IErrorRecorder *getErrorRecorder() const noexcept override { return recorder; }
  int32_t getOptimizationProfile() const noexcept override { return profile; }
  bool setOptimizationProfileAsync(int32_t index, cudaStream_t) noexcept override;
  bool setInputShape(const char *name, const Dims &dims) noexcept override;
  Dims getTensorShape(const char *name) const noexcept override;
  bool setTensorAddress(const char *name, void *data) noexcept override;
  bool setInputTensorAddress(const char *name, const void *data) noexcept override {
    return setTensorAddress(name, const_cast<void *>(data));
  }
  bool setOutputAllocator(const char *name, IOutputAllocator *allocator) noexcept override {
    if (strike())
      return refuse("setOutputAllocator fails, as it was told to");
    allocators[name] = allocator;
    return true;
  }
  bool setInputConsumedEvent(cudaEvent_t event) noexcept override {
    consumed = event;
    return !strike() || refuse("setInputConsumedEvent fails, as it was told to");
  }
  cudaEvent_t getInputConsumedEvent() const noexcept override { return consumed; }
  bool enqueueV3(cudaStream_t stream) noexcept override;

  bool refuse(const std::string &why) {
    if (recorder)
      recorder->reportError(ErrorCode::kINVALID_ARGUMENT, why.c_str());
    return false;
  }
  bool deliver(const std::string &name, latewood_buffer *result, cudaStream_t stream);
  void notify(const std::string &name, latewood_buffer *result);

  const Engine &engine;
  latewood_session *session = nullptr;
  IErrorRecorder *recorder = nullptr;
  cudaEvent_t consumed = nullptr;
  int32_t profile = 0;
  std::map<std::string, Dims> shapes;
  std::map<std::string, void *> addresses;
  std::map<std::string, IOutputAllocator *> allocators;
};

struct Engine final : UnusedEngine, ICudaEngine {
  Engine() { mImpl = this; }
  ~Engine() override {
    latewood_executable_release(executable);
    latewood_client_release(client);
  }

  std::string open(const void *bytes, size_t size) {
    latewood_status *status = latewood_client_create(nullptr, &client);
    if (!status)
      status = latewood_executable_load_memory(bytes, size, nullptr, &executable);
    if (!status)
      status = latewood_executable_find_function(executable, "main", &function);
    for (size_t i = 0; !status && i < latewood_function_argument_count(function); ++i) {
      Value value{.isInput = true, .index = i};
      status = latewood_function_argument(function, i, &value.info);
      values["in" + std::to_string(i)] = value;
    }
    for (size_t i = 0; !status && i < latewood_function_result_count(function); ++i) {
      Value value{.isInput = false, .index = i};
      status = latewood_function_result(function, i, &value.info);
      values["out" + std::to_string(i)] = value;
    }
    std::string why = status ? latewood_status_get_message(status) : "";
    latewood_status_destroy(status);
    return why;
  }

  ICudaEngine *getPImpl() noexcept override { return this; }
  IExecutionContext *createExecutionContext(ExecutionContextAllocationStrategy) noexcept override {
    if (strike()) {
      if (recorder)
        recorder->reportError(ErrorCode::kINTERNAL_ERROR, "createExecutionContext fails, as it was told to");
      return nullptr;
    }
    auto context = std::make_unique<Context>(*this);
    return context->session ? context.release() : nullptr;
  }
  const char *getName() const noexcept override { return "stand-in"; }
  int32_t getNbOptimizationProfiles() const noexcept override { return behaves("profiles") ? 2 : 1; }
  void setErrorRecorder(IErrorRecorder *given) noexcept override { recorder = given; }
  IErrorRecorder *getErrorRecorder() const noexcept override { return recorder; }
  const Value *find(const char *name) const {
    auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  }
  Dims getTensorShape(const char *name) const noexcept override {
    Dims dims{};
    const Value *value = find(name);
    if (!value) {
      dims.nbDims = -1;
      return dims;
    }
    dims.nbDims = static_cast<int32_t>(value->info.rank);
    std::copy_n(value->info.shape, value->info.rank, dims.d);
    return dims;
  }
  DataType getTensorDataType(const char *name) const noexcept override { return toDataType(find(name)->info.type); }
  /// A vector of integers, or one number.
  TensorLocation getTensorLocation(const char *name) const noexcept override {
    const Value *value = find(name);
    bool isShape = value && value->isInput && value->info.rank <= 1 &&
                   (value->info.type == LATEWOOD_TYPE_i32 || value->info.type == LATEWOOD_TYPE_i64);
    return isShape && behaves("host") ? TensorLocation::kHOST : TensorLocation::kDEVICE;
  }
  bool isShapeInferenceIO(const char *name) const noexcept override {
    return getTensorLocation(name) == TensorLocation::kHOST;
  }
  const int64_t *getProfileTensorValuesV2(const char *, int32_t, OptProfileSelector select) const noexcept override {
    static const int64_t low[8] = {}, typical[8] = {4, 4, 4, 4, 4, 4, 4, 4},
                         high[8] = {100, 100, 100, 100, 100, 100, 100, 100};
    return select == OptProfileSelector::kMIN ? low : select == OptProfileSelector::kOPT ? typical : high;
  }
  TensorIOMode getTensorIOMode(const char *name) const noexcept override {
    const Value *value = find(name);
    return !value ? TensorIOMode::kNONE : value->isInput ? TensorIOMode::kINPUT : TensorIOMode::kOUTPUT;
  }
  Dims getProfileShape(const char *name, int32_t index, OptProfileSelector select) const noexcept override {
    Dims dims = getTensorShape(name);
    int64_t small[] = {1, 4, 8}, large[] = {9, 64, 4096};
    if (!behaves("profiles"))
      small[0] = 0, small[2] = int64_t(1) << 40;
    for (int32_t d = 0; d < dims.nbDims; ++d)
      if (dims.d[d] < 0)
        dims.d[d] = (index == 0 ? small : large)[select == OptProfileSelector::kMIN   ? 0
                                                 : select == OptProfileSelector::kOPT ? 1
                                                                                      : 2];
    return dims;
  }
  int32_t getNbIOTensors() const noexcept override { return static_cast<int32_t>(values.size()); }
  const char *getIOTensorName(int32_t index) const noexcept override {
    return std::next(values.begin(), index)->first.c_str();
  }

  latewood_client *client = nullptr;
  latewood_executable *executable = nullptr;
  const latewood_function *function = nullptr;
  std::map<std::string, Value> values;
  IErrorRecorder *recorder = nullptr;
};

Context::Context(const Engine &engine) : engine(engine) {
  mImpl = this;
  latewood_status *status = latewood_session_create(engine.client, engine.executable, &session);
  latewood_status_destroy(status);
}

const ICudaEngine &Context::getEngine() const noexcept { return engine; }

bool Context::setOptimizationProfileAsync(int32_t index, cudaStream_t) noexcept {
  if (index < 0 || index >= engine.getNbOptimizationProfiles() || strike())
    return refuse("there is no profile " + std::to_string(index));
  profile = index;
  shapes.clear();
  addresses.clear();
  return true;
}

bool Context::setInputShape(const char *name, const Dims &dims) noexcept {
  const Value *value = engine.find(name);
  if (!value || !value->isInput)
    return refuse(std::string(name) + " is no input");
  if (dims.nbDims != value->info.rank)
    return refuse(std::string(name) + " has another rank");
  for (int32_t d = 0; d < dims.nbDims; ++d)
    if (value->info.shape[d] >= 0 && value->info.shape[d] != dims.d[d])
      return refuse(std::string(name) + " has another extent");
  if (behaves("profiles")) {
    Dims min = engine.getProfileShape(name, profile, OptProfileSelector::kMIN),
         max = engine.getProfileShape(name, profile, OptProfileSelector::kMAX);
    for (int32_t d = 0; d < dims.nbDims; ++d)
      if (dims.d[d] < min.d[d] || dims.d[d] > max.d[d])
        return refuse(std::string(name) + " is outside of the profile");
  }
  if (strike())
    return refuse("setInputShape fails, as it was told to");
  ++shapesSet;
  shapes[name] = dims;
  return true;
}

Dims Context::getTensorShape(const char *name) const noexcept {
  auto known = shapes.find(name);
  return known != shapes.end() ? known->second : engine.getTensorShape(name);
}

bool Context::setTensorAddress(const char *name, void *data) noexcept {
  if (!engine.find(name))
    return refuse(std::string("there is no tensor ") + name);
  if (!data)
    return refuse(std::string(name) + " has no address");
  if (strike())
    return refuse("setTensorAddress fails, as it was told to");
  ++addressesSet;
  addresses[name] = data;
  return true;
}

/// Puts a result where it belongs.
bool Context::deliver(const std::string &name, latewood_buffer *result, cudaStream_t stream) {
  size_t bytes = latewood_buffer_size(result);
  auto found = allocators.find(name);
  IOutputAllocator *allocator = found == allocators.end() ? nullptr : found->second;
  if (!allocator) {
    auto address = addresses.find(name);
    if (address == addresses.end())
      return refuse(name + " has neither an address nor an allocator");
    if (behaves("fail"))
      return refuse("the engine fails, as it was told to");
    return CUDA::get().move(address->second, latewood_buffer_data(result), bytes, stream) ||
           refuse(name + " cannot be copied to the device");
  }
  uint64_t alignment = behaves("align") ? 4096 : 256;
  void *memory = nullptr;
  auto ask = [&](uint64_t size) {
    memory = allocator->reallocateOutputAsync(name.c_str(), memory, size, alignment, stream);
    std::vector<std::byte> pattern(size, std::byte(0xee));
    return memory && CUDA::get().move(memory, pattern.data(), size, stream);
  };
  bool hasMemory = true;
  if (behaves("zero"))
    hasMemory = ask(0);
  if (hasMemory && behaves("twice"))
    hasMemory = ask(bytes / 2);
  if (hasMemory && behaves("shrink"))
    hasMemory = ask(bytes * 8 + 64);
  if (hasMemory)
    hasMemory = ask(bytes);
  if (!hasMemory)
    return refuse(name + " gets no memory");
  if (behaves("fail"))
    return refuse("the engine fails, as it was told to");
  return CUDA::get().move(memory, latewood_buffer_data(result), bytes, stream) ||
         refuse(name + " cannot be copied to the device");
}

void Context::notify(const std::string &name, latewood_buffer *result) {
  auto allocator = allocators.find(name);
  if (allocator == allocators.end() || !allocator->second || behaves("mute"))
    return;
  Dims dims{};
  dims.nbDims = static_cast<int32_t>(latewood_buffer_rank(result));
  std::copy_n(latewood_buffer_shape(result), dims.nbDims, dims.d);
  if (behaves("wrong"))
    dims.d[dims.nbDims++] = 1;
  allocator->second->notifyShape(name.c_str(), dims);
}

bool Context::enqueueV3(cudaStream_t stream) noexcept {
  ++runs;
  if (strike())
    return refuse("enqueueV3 fails, as it was told to");
  std::vector<latewood_buffer *> arguments(latewood_function_argument_count(engine.function)),
      results(latewood_function_result_count(engine.function));
  std::deque<std::vector<std::byte>> copies;
  std::string why;
  auto check = [&](latewood_status *status) {
    if (status)
      why = latewood_status_get_message(status);
    latewood_status_destroy(status);
  };
  for (size_t i = 0; i < arguments.size() && why.empty(); ++i) {
    std::string name = "in" + std::to_string(i);
    auto shape = shapes.find(name);
    auto address = addresses.find(name);
    if (shape == shapes.end() || address == addresses.end()) {
      why = name + " has no shape or no address";
      break;
    }
    auto see = [&](void *data) {
      check(latewood_buffer_create_view(engine.client, data, engine.find(name.c_str())->info.type, shape->second.nbDims,
                                        shape->second.d, nullptr, 1, nullptr, nullptr, &arguments[i]));
    };
    see(address->second);
    if (!why.empty() || engine.getTensorLocation(name.c_str()) == TensorLocation::kHOST)
      continue;
    std::vector<std::byte> &data = copies.emplace_back(std::max<size_t>(latewood_buffer_size(arguments[i]), 1));
    if (!CUDA::get().move(data.data(), address->second, latewood_buffer_size(arguments[i]), stream))
      why = name + " cannot be copied from the device";
    latewood_buffer_release(std::exchange(arguments[i], nullptr));
    if (why.empty())
      see(data.data());
  }
  if (why.empty() && consumed && CUDA::get().record(consumed, stream) != 0)
    why = "the event cannot be recorded";
  if (why.empty())
    check(latewood_session_call(session, engine.function, arguments.data(), arguments.size(), results.data(),
                                results.size()));
  bool isRight = why.empty() || refuse(why);
  for (size_t i = 0; i < results.size() && isRight; ++i)
    if (isRight = deliver("out" + std::to_string(i), results[i], stream); isRight && !behaves("late"))
      notify("out" + std::to_string(i), results[i]);
  for (size_t i = 0; i < results.size() && isRight && behaves("late"); ++i)
    notify("out" + std::to_string(i), results[i]);
  for (latewood_buffer *buffer : arguments)
    latewood_buffer_release(buffer);
  for (latewood_buffer *buffer : results)
    latewood_buffer_release(buffer);
  return isRight;
}

/// Loads libraries of plugins, and knows none of their creators.
struct Registry final : IPluginRegistry {
  void setErrorRecorder(IErrorRecorder *const given) noexcept override { recorder = given; }
  IErrorRecorder *getErrorRecorder() const noexcept override { return recorder; }
  bool isParentSearchEnabled() const override { return false; }
  void setParentSearchEnabled(bool const) override {}
  PluginLibraryHandle loadLibrary(AsciiChar const *path) noexcept override {
    void *library = dlopen(path, RTLD_NOW);
    if (!library && recorder)
      recorder->reportError(ErrorCode::kINVALID_ARGUMENT, dlerror());
    pluginLibraries += library != nullptr;
    return library;
  }
  void deregisterLibrary(PluginLibraryHandle) noexcept override {}
  bool registerCreator(IPluginCreatorInterface &, AsciiChar const *const) noexcept override { return false; }
  IPluginCreatorInterface *const *getAllCreators(int32_t *const count) const noexcept override {
    *count = 0;
    return nullptr;
  }
  IPluginCreatorInterface *getCreator(AsciiChar const *const, AsciiChar const *const,
                                      AsciiChar const *const) noexcept override {
    return nullptr;
  }
  bool deregisterCreator(IPluginCreatorInterface const &) noexcept override { return false; }
  IPluginResource *acquirePluginResource(AsciiChar const *, IPluginResource *) noexcept override { return nullptr; }
  int32_t releasePluginResource(AsciiChar const *) noexcept override { return -1; }
  IPluginCreatorInterface *const *getAllCreatorsRecursive(int32_t *const count) noexcept override {
    return getAllCreators(count);
  }

  IErrorRecorder *recorder = nullptr;
};

struct Runtime final : UnusedRuntime, IRuntime {
  explicit Runtime(ILogger &logger) : logger(logger) { mImpl = this; }
  IRuntime *getPImpl() noexcept override { return this; }
  ICudaEngine *deserializeCudaEngine(const void *bytes, std::size_t size) noexcept override {
    std::string_view text(static_cast<const char *>(bytes), size);
    auto engine = std::make_unique<Engine>();
    std::string why = "the bytes are no engine of the stand-in";
    if (strike())
      why = "deserializeCudaEngine fails, as it was told to";
    else if (text.starts_with(magic))
      why = engine->open(text.data() + magic.size(), text.size() - magic.size());
    if (why.empty())
      return engine.release();
    logger.log(ILogger::Severity::kERROR, "an error that the recorder knows better");
    if (recorder)
      recorder->reportError(ErrorCode::kINVALID_ARGUMENT, why.c_str());
    return nullptr;
  }
  void setErrorRecorder(IErrorRecorder *given) noexcept override { recorder = given; }
  IErrorRecorder *getErrorRecorder() const noexcept override { return recorder; }
  IPluginRegistry &getPluginRegistry() noexcept override {
    registry.recorder = recorder;
    return registry;
  }

  ILogger &logger;
  Registry registry;
  IErrorRecorder *recorder = nullptr;
};

} // namespace latewood::standin

using namespace latewood::standin;

EXPORT void *createInferRuntime_INTERNAL(void *logger, int32_t version) noexcept {
  auto &log = *static_cast<ILogger *>(logger);
  if (version != NV_TENSORRT_VERSION) {
    log.log(ILogger::Severity::kERROR, "the stand-in is for another version");
    return nullptr;
  }
  return static_cast<IRuntime *>(new Runtime(log));
}
EXPORT int32_t getInferLibVersion() noexcept {
  const char *given = std::getenv("STANDIN_TENSORRT_VERSION");
  return given ? std::atoi(given) : NV_TENSORRT_VERSION;
}

EXPORT void standin_behave(const char *words) {
  std::lock_guard lock(behaviourMutex);
  behaviour = words ? words : "";
}
/// How often the runtime set addresses and shapes, and ran engines, since the process began.
EXPORT int64_t standin_addresses_set() { return addressesSet; }
EXPORT int64_t standin_shapes_set() { return shapesSet; }
EXPORT int64_t standin_runs() { return runs; }
/// How many libraries of plugins are loaded.
EXPORT int64_t standin_plugin_libraries() { return pluginLibraries; }
/// The n-th call from now on fails, of those that may; 0: none. And how many there were.
EXPORT void standin_fail_call(int64_t n) { failingCall.store(n); }
EXPORT int64_t standin_calls() { return calls.load(); }
