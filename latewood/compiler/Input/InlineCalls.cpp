// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass InlineCalls. From the entry points down: a call becomes a copy of the function's body as it was written, and
// the calls in that copy are next. So each operation of the result is made once, however deep the functions are nested,
// and no function is inlined into one that is thrown away afterwards.
//
// Entry points are public functions, and those that something other than a call names, which a later pass may take as
// they are. One that calls another is done first: the other's body is still as it was written.
//
// In: functions of one block. Out: no call of a function that has a body and does not lead back to itself.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace latewood::input {
#define GEN_PASS_DEF_INLINECALLSPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;

namespace {

/// Functions and their calls, as they were written.
class CallGraph {
public:
  explicit CallGraph(ModuleOp module) : symbols(module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic())
        entryPoints.insert(function);
    module.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto caller = call->getParentOfType<func::FuncOp>())
          calls[caller].push_back(call);
        return;
      }
      op->getAttrDictionary().walk([&](SymbolRefAttr name) {
        if (auto function = symbols.lookup<func::FuncOp>(name.getRootReference()))
          entryPoints.insert(function);
      });
    });
  }

  func::FuncOp getCallee(func::CallOp call) const { return symbols.lookup<func::FuncOp>(call.getCallee()); }

  /// What must be inlined is a body of one block.
  static bool hasBlock(func::FuncOp function) { return function && function.getBody().hasOneBlock(); }

  /// Entry points, each one in front of those that it calls. Nothing, and an error, if a function leads back to itself.
  FailureOr<SmallVector<func::FuncOp>> sortEntryPoints() const;

private:
  SymbolTable symbols;
  llvm::SetVector<func::FuncOp> entryPoints;
  DenseMap<func::FuncOp, SmallVector<func::CallOp>> calls;
};

FailureOr<SmallVector<func::FuncOp>> CallGraph::sortEntryPoints() const {
  enum class State : uint8_t { Unseen, Open, Done };
  DenseMap<func::FuncOp, State> states;
  SmallVector<func::FuncOp> sorted;
  // Depth first, and not recursive: programs nest functions deeper than the stack is.
  struct Frame {
    func::FuncOp function;
    ArrayRef<func::CallOp> rest;
  };
  auto open = [&](func::FuncOp function) {
    states[function] = State::Open;
    auto own = calls.find(function);
    return Frame{function, own == calls.end() ? ArrayRef<func::CallOp>() : ArrayRef(own->second)};
  };
  for (func::FuncOp entry : entryPoints) {
    if (states.lookup(entry) != State::Unseen)
      continue;
    SmallVector<Frame> frames = {open(entry)};
    while (!frames.empty()) {
      Frame &frame = frames.back();
      if (frame.rest.empty()) {
        states[frame.function] = State::Done;
        if (entryPoints.contains(frame.function))
          sorted.push_back(frame.function);
        frames.pop_back();
        continue;
      }
      func::CallOp call = frame.rest.consume_front();
      func::FuncOp callee = getCallee(call);
      if (!hasBlock(callee))
        continue;
      State state = states.lookup(callee);
      if (state == State::Open)
        return call.emitError() << "function '" << callee.getName() << "' could not be inlined: it calls itself";
      if (state == State::Unseen)
        frames.push_back(open(callee));
    }
  }
  std::reverse(sorted.begin(), sorted.end());
  return sorted;
}

/// Puts a copy of the callee's body in the call's place, and returns the calls in it.
void inlineCall(func::CallOp call, func::FuncOp callee, SmallVectorImpl<func::CallOp> &next) {
  Block &body = callee.getBody().front();
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator()) {
    builder.clone(op, mapping)->walk([&](Operation *copy) {
      copy->setLoc(CallSiteLoc::get(copy->getLoc(), call.getLoc()));
      if (auto inner = dyn_cast<func::CallOp>(copy))
        next.push_back(inner);
    });
  }
  call.replaceAllUsesWith(
      llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return mapping.lookup(value); }));
  call.erase();
}

struct InlineCallsPass : input::impl::InlineCallsPassBase<InlineCallsPass> {
  void runOnOperation() override {
    CallGraph graph(getOperation());
    FailureOr<SmallVector<func::FuncOp>> entryPoints = graph.sortEntryPoints();
    if (failed(entryPoints))
      return signalPassFailure();
    for (func::FuncOp entry : *entryPoints) {
      SmallVector<func::CallOp> calls;
      entry.walk([&](func::CallOp call) { calls.push_back(call); });
      while (!calls.empty()) {
        func::CallOp call = calls.pop_back_val();
        if (func::FuncOp callee = graph.getCallee(call); CallGraph::hasBlock(callee))
          inlineCall(call, callee, calls);
      }
    }
  }
};

} // namespace
