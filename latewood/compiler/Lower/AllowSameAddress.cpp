// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds out which results may lie where an argument lies. The host program is a sequence, so it is a matter of order:
// the argument must have been read for the last time when the result is written for the first time. Both may happen in
// one operation if that operation says that it can.
//
// In:  executor functions.
// Out: the same, with the pairs in an attribute, from which the file's signature takes them.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Lower/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace latewood::lower {

#define GEN_PASS_DEF_ALLOWSAMEADDRESSPASS
#include "latewood/compiler/Lower/Passes.h.inc"

namespace {

// On an engine function: pairs of operands of which the second, written, may lie where the first, read, lies.
constexpr StringLiteral sameAddressAttrName = "plan.same_address";

// The operations that touch a buffer, as far as the order of the function's own block is concerned.
struct Uses {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = -1;
  SmallVector<OpOperand *> operands;
  bool isVisible = true;
};

class AllowSameAddressPass : public impl::AllowSameAddressPassBase<AllowSameAddressPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Block &block = function.getBody().front();
    positions.clear();
    for (auto [position, op] : llvm::enumerate(block))
      positions[&op] = position;

    SmallVector<Uses> arguments =
        llvm::map_to_vector(function.getArguments(), [&](Value argument) { return find(argument, block); });
    DenseMap<int64_t, SmallVector<executor::RequestOp>> requests;
    function.walk([&](executor::RequestOp request) { requests[request.getSlot()].push_back(request); });

    SmallVector<int64_t> pairs;
    auto types = function->getAttrOfType<ArrayAttr>(executor::ExecutorDialect::getResultsAttrName());
    SmallVector<Uses> results;
    for (int64_t result = 0; types && result < static_cast<int64_t>(types.size()); ++result) {
      results.push_back(requests[result].size() == 1 ? find(requests[result].front(), block) : Uses());
      results.back().isVisible &= requests[result].size() == 1;
    }
    for (auto [argument, uses] : llvm::enumerate(arguments))
      for (auto [result, resultUses] : llvm::enumerate(results))
        if (uses.isVisible && function.getArgument(argument).getType() == cast<TypeAttr>(types[result]).getValue() &&
            mayShare(uses, resultUses))
          pairs.append({static_cast<int64_t>(argument), static_cast<int64_t>(result)});
    if (!pairs.empty())
      function->setAttr(executor::ExecutorDialect::getSameAddressAttrName(),
                        DenseI64ArrayAttr::get(&getContext(), pairs));
  }

private:
  // Follows views. A buffer that goes through control flow is lost from sight.
  Uses find(Value buffer, Block &block) {
    Uses uses;
    SmallVector<Value> worklist{buffer};
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (auto view = dyn_cast<executor::ViewOp>(user)) {
          worklist.push_back(view);
          continue;
        }
        if (isa<executor::DimOp>(user))
          continue;
        if (!isa<executor::ExecutorDialect>(user->getDialect()))
          uses.isVisible = false;
        int64_t position = positions.lookup(block.findAncestorOpInBlock(*user));
        uses.first = std::min(uses.first, position);
        uses.last = std::max(uses.last, position);
        uses.operands.push_back(&use);
      }
    return uses;
  }

  bool mayShare(const Uses &argument, const Uses &result) {
    if (!result.isVisible)
      return false;
    if (argument.last < result.first)
      return true;
    if (argument.last != result.first)
      return false;
    // One operation of the function's own block reads and writes.
    OpOperand *read = findSingle(argument.operands, argument.last), *write = findSingle(result.operands, result.first);
    if (!read || !write || read->getOwner() != write->getOwner())
      return false;
    Operation *op = read->getOwner();
    if (isa<executor::CopyOp>(op))
      return write->getOperandNumber() == 1;
    auto launch = dyn_cast<executor::LaunchOp>(op);
    if (!launch)
      return false;
    auto callee = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(launch, launch.getCallee());
    auto allowed = callee ? callee->getAttrOfType<DenseI64ArrayAttr>(sameAddressAttrName) : DenseI64ArrayAttr();
    for (int64_t i = 0; allowed && i + 1 < allowed.size(); i += 2)
      if (allowed[i] == read->getOperandNumber() && allowed[i + 1] == write->getOperandNumber())
        return true;
    return false;
  }

  // The only use at `position`, if there is just one and it is not nested in control flow.
  OpOperand *findSingle(ArrayRef<OpOperand *> operands, int64_t position) {
    OpOperand *result = nullptr;
    for (OpOperand *use : operands) {
      auto found = positions.find(use->getOwner());
      if (found == positions.end() || found->second != position)
        continue;
      if (result)
        return nullptr;
      result = use;
    }
    return result;
  }

  DenseMap<Operation *, int64_t> positions;
};

} // namespace
} // namespace latewood::lower
