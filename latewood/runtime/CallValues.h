// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caller's side of a call: whether arguments and given results fit the signature, whether they are there yet, and
// the memory that a call takes from its caller. Internal.

#ifndef LATEWOOD_RUNTIME_CALLVALUES_H
#define LATEWOOD_RUNTIME_CALLVALUES_H

#include "latewood/runtime/CallFrame.h"
#include "latewood/runtime/Value.h"

namespace latewood::runtime {

/// Checks arguments. The function's state is only read: a call may be running.
Status checkArguments(const FunctionState &function, std::span<Value *const> arguments);

/// Checks the memrefs that were given for results.
Status checkResults(const FunctionState &function, std::span<Ref<Value>> results);

/// Waits for values that calls on streams are going to write.
Status waitForValues(const FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results);

/// The donations of one call: taken before it runs, and given back if it fails and the memory is untouched.
class DonationScope {
public:
  DonationScope(const FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results)
      : function(function), arguments(arguments), results(results) {}

  ~DonationScope() {
    if (!isCommitted)
      giveBack();
  }

  /// Takes the donated arguments, and puts values on their memory into the results that may have it.
  Status take();

  /// The call succeeded, or is certain to run.
  void commit() { isCommitted = true; }

private:
  void giveBack();
  Status take(const FunctionState::Donation &donation);

  const FunctionState &function;
  std::span<Value *const> arguments;
  std::span<Ref<Value>> results;
  std::vector<MemRefValue *> taken;
  std::vector<uint32_t> filled;
  bool isCommitted = false;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_CALLVALUES_H
