// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session calls the functions of one executable and keeps what makes repeated calls cheap: the planned workspace, the
// memory of results that were dropped, the prepared call frames.
//
// Results. For each result the caller either gives a memref, which the function writes (destination-passing), or
// leaves it empty, and the runtime allocates when the shape is known; each result separately, at each call.
//   - A given memref has the element type, shape, canonical strides and memory space of the result. It may overlap an
//     argument or another given memref: such results are computed aside and copied when all of them are complete, in
//     the order of the results (so where two of them share bytes, the later one is seen).
//   - An allocated result is 64-byte aligned and lives as long as somebody holds it, whatever becomes of the session.
//   Its
//     memory is used again by later calls once it has been dropped, never before.
//   - When a call fails, the contents of given memrefs are undefined, and nothing else has happened.
//
// Donation. Where the signature says that an argument is donated, the call takes it away from the caller: the value
// cannot be used again, and its memory becomes the result's, if nobody else looks at it (another value, a NumPy view, a
// DLPack export), the result was not given, and the function may work in place. Memory of somebody else (views) is not
// taken, and such a value stays usable. No other argument may overlap a donated one. After a failed call the value is
// still the caller's, unless its memory had been taken already.
//
// The cost of a call with prepared values (memrefs that exist, results given): checks, one indirect call; no
// allocation, no lock that can block, no system call, apart from the threads of parallel loops. With empty results: one
// small object for each, and memory from the pool.
//
//   identity   the object
//   ownership  holds its client and its executable; results hold neither
//   threads    one call at a time: a second thread waits. Sessions run in parallel
//   streams    `call` and `execute` run after the work enqueued on the stream that they are given, and have completed
//   when
//              they return. `enqueue` returns at once; see there
//   floating   calls run with the IEEE default environment (round to nearest, denormals kept, no traps), and
//   point      the caller's own is restored

#ifndef LATEWOOD_RUNTIME_SESSION_H
#define LATEWOOD_RUNTIME_SESSION_H

#include "latewood/runtime/Client.h"
#include "latewood/runtime/Executable.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latewood::runtime {

struct RuntimeSessionOptions {
  /// The process grid: how many devices take part, and which of them this session is.
  int32_t deviceCount = 1;
  int32_t deviceId = 0;
  /// Identifies the group of processes for collective operations; empty outside one.
  std::string ncclUuid;
  /// Modules to offer to the host program; empty: all that are there.
  std::vector<std::string> features;
};

class LATEWOOD_API Session final : public RefCounted {
public:
  static StatusOr<Ref<Session>> create(Ref<Client> client, Ref<Executable> executable,
                                       const RuntimeSessionOptions &options = {});

  /// Calls `function`, which is one of `executable().functions()`. `results` has one entry for each result: on entry
  /// null, or the memref to write; after success, the result. After failure the entries are as they were.
  Status call(const FunctionSignature &function, std::span<Value *const> arguments, std::span<Ref<Value>> results,
              Stream *stream = nullptr);

  /// Enqueues the call on a stream and returns. Arguments and given memrefs are checked at once; results that are
  /// allocated exist at once, too. All results are ready when the call has run (`MemRefValue::waitUntilReady`,
  /// `Stream::sync`); if it fails, both say why, and so does every later call that is given such a result. Arguments
  /// that a call on another stream is still going to write are waited for on the stream, in its order. The values are
  /// kept alive until the call has run; the caller changes neither arguments nor given memrefs before that. A function
  /// whose result shapes are known only when it has run does so before this returns, unless every result is given.
  Status enqueue(const FunctionSignature &function, std::span<Value *const> arguments, std::span<Ref<Value>> results,
                 Stream &stream);

  /// `call` by name. `outputs` is empty (allocate all), or has one entry for each result, null for those to allocate.
  /// The results alias the outputs that were given.
  StatusOr<std::vector<Ref<Value>>> execute(std::string_view function, std::span<const Ref<Value>> arguments,
                                            std::span<const Ref<Value>> outputs = {}, Stream *stream = nullptr);

  /// The shapes that the results of a call with these arguments would have, without the call: the function's shape
  /// function computes them from the arguments' extents and from small integers in them. Extents that only the call
  /// itself finds out are `dynamicExtent`. Fails where the call would fail for its arguments' shapes.
  StatusOr<std::vector<std::vector<int64_t>>> outputShapes(std::string_view function,
                                                           std::span<const Ref<Value>> arguments);

  const Ref<Client> &client() const;
  const Ref<Executable> &executable() const;
  const RuntimeSessionOptions &options() const;

  SessionStatistics statistics() const;
  /// Gives the memory of dropped results back to the system.
  void releaseCachedMemory();

private:
  Session();
  ~Session() override;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_SESSION_H
