// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call on a stream: what can be wrong with it is said at once; then its results exist, and whoever looks at them
// waits. Until it has run, the call holds its session, its values, and their memory.

#include "latewood/runtime/CallValues.h"
#include "latewood/runtime/ResultMaker.h"
#include "latewood/runtime/SessionState.h"
#include "latewood/runtime/TraceEvents.h"

namespace latewood::runtime {

Status Session::enqueue(const FunctionSignature &signature, std::span<Value *const> arguments,
                        std::span<Ref<Value>> results, Stream &stream) {
  return withoutExceptions([&]() -> Status {
    LATEWOOD_ASSIGN_OR_RETURN(FunctionState * function, state->find(signature));
    LATEWOOD_RETURN_IF_ERROR(checkArguments(*function, arguments));
    LATEWOOD_RETURN_IF_ERROR(checkResults(*function, results));
    const std::vector<ValuePlan> &plans = function->slots.plans();
    trace::Span span("enqueue", signature.name);
    for (size_t i = 0; i < plans.size(); ++i)
      if (!results[i] && !plans[i].isStatic)
        return call(signature, arguments, results, &stream);

    /// What the call needs until it has run.
    struct Pending {
      Ref<Session> session;
      std::vector<Ref<Value>> arguments, results;
      /// Held as well: no later call may take the memory by donation before this one has read it.
      std::vector<Ref<Storage>> inUse;
      /// Argument i waits for this event, as of now: later calls may write the memory again.
      std::vector<std::pair<size_t, Ref<Event>>> writers;
      Ref<Event> done = Event::create();
    };
    for (size_t i = 0; i < arguments.size(); ++i)
      if (MemRefValue *memref = asMemRef(arguments[i]); memref && memref->isDonated())
        return memref->waitUntilReady().withContext("function '" + signature.name + "', argument " + std::to_string(i));
    // On a stream a donated value is gone at once, even if the call fails later.
    DonationScope donations(*function, arguments, results);
    LATEWOOD_RETURN_IF_ERROR(donations.take());
    auto pending = std::make_shared<Pending>();
    pending->session = Ref<Session>::share(this);
    for (size_t i = 0; i < arguments.size(); ++i) {
      pending->arguments.push_back(Ref<Value>::share(arguments[i]));
      if (MemRefValue *memref = asMemRef(arguments[i])) {
        pending->inUse.push_back(memref->storage());
        if (Ref<Event> writer = memref->storage()->writer())
          pending->writers.emplace_back(i, std::move(writer));
      }
    }
    for (size_t i = 0; i < plans.size(); ++i) {
      if (results[i]) {
        pending->results.push_back(results[i]);
        continue;
      }
      PooledStorage *block = state->pool->take(plans[i].bytes, memoryAlignment, Purpose::result);
      if (!block)
        return outOfMemory("function '" + signature.name + "', result " + std::to_string(i) + ": cannot allocate " +
                           std::to_string(plans[i].bytes) + " bytes");
      pending->results.push_back(
          ResultMaker::make(Ref<Storage>::adopt(block), plans[i].type, plans[i].shape, plans[i].rank));
    }

    auto runNow = [function](Pending &pending) -> Status {
      for (auto &[index, writer] : pending.writers)
        if (Status status = writer->wait(); !status.isOk())
          return std::move(status).withContext("function '" + function->signature.name + "', argument " +
                                               std::to_string(index) + ": the call that writes this memory failed");
      std::vector<Value *> values;
      for (const Ref<Value> &argument : pending.arguments)
        values.push_back(argument.get());
      return pending.session->state->runLocked(*function, values, pending.results);
    };
    // Made before anybody is told to wait for it.
    std::function<Status()> run = [pending, runNow]() -> Status {
      // Whatever happens, `done` is completed: others wait for it.
      Status status = withoutExceptions([&] { return runNow(*pending); });
      pending->done->complete(status);
      if (status.isOk())
        for (const Ref<Value> &result : pending->results)
          asMemRef(result.get())->storage()->clearWriter(*pending->done);
      return status;
    };
    for (const Ref<Value> &result : pending->results)
      asMemRef(result.get())->storage()->setWriter(pending->done);
    if (Status status = stream.enqueue(std::move(run)); !status.isOk()) {
      pending->done->complete(status);
      return status;
    }
    donations.commit();
    std::copy(pending->results.begin(), pending->results.end(), results.begin());
    return okStatus();
  });
}

} // namespace latewood::runtime
