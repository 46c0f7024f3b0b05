// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves constants of the host into the file. Equal ones are stored once: attributes are unique, so that comparing
// pointers compares contents.
//
// In:  host functions with constants of any dialect.
// Out: executor.constant at module level, executor.get_constant where they are used.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_OUTLINECONSTANTSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

class OutlineConstantsPass : public impl::OutlineConstantsPassBase<OutlineConstantsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder atModule = OpBuilder::atBlockBegin(module.getBody());
    SymbolTable symbols(module);
    DenseMap<Attribute, executor::ConstantOp> known;
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<Operation *> constants;
      function.walk([&](Operation *op) {
        if (op->hasTrait<OpTrait::ConstantLike>() && op->getNumResults() == 1 &&
            isa<RankedTensorType>(op->getResult(0).getType()))
          constants.push_back(op);
      });
      for (Operation *op : constants) {
        ElementsAttr value;
        if (!matchPattern(op, m_Constant(&value)))
          continue;
        if (op->use_empty()) {
          op->erase();
          continue;
        }
        executor::ConstantOp &constant = known[value];
        if (!constant) {
          constant = executor::ConstantOp::create(atModule, op->getLoc(), ("constant_" + Twine(known.size() - 1)).str(),
                                                  value);
          symbols.insert(constant);
        }
        OpBuilder builder(op);
        auto type = cast<RankedTensorType>(op->getResult(0).getType());
        Value buffer = executor::GetConstantOp::create(builder, op->getLoc(),
                                                       MemRefType::get(type.getShape(), type.getElementType()),
                                                       FlatSymbolRefAttr::get(constant.getSymNameAttr()));
        Value tensor = bufferization::ToTensorOp::create(builder, op->getLoc(), type, buffer, /*restrict=*/true,
                                                         /*writable=*/false);
        op->getResult(0).replaceAllUsesWith(tensor);
        op->erase();
      }
    }
  }
};

} // namespace
} // namespace latewood::bufferize
