// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From buffers to the host program. The workspace of a function has two parts: the buffers that pass from one cluster
// to another, each with a place of its own, and behind them the scratch memory of the cluster that runs, sized by the
// largest. Buffers of dynamic shape, and those that control flow hands over, are allocated by the call, and given back
// behind their last use.
//
// In:  host functions of memref and arith operations, cluster calls and structured control flow; engine functions
// lowered to LLVM. Out: host functions of executor operations and structured control flow.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/MemorySpaces.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "latewood/compiler/Lower/Passes.h"
#include "latewood/compiler/Lower/ScalarsToExecutor.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace latewood::lower {

#define GEN_PASS_DEF_CONVERTTOEXECUTORPASS
#include "latewood/compiler/Lower/Passes.h.inc"

namespace {

constexpr int64_t alignment = 64;

bool isTerminatorOfControlFlow(Operation *op) {
  return isa<scf::YieldOp, scf::ConditionOp>(op) && !isa<scf::ForOp>(op->getParentOp());
}

// Whether control flow takes a buffer over from the block that has made it.
bool isHandedOver(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, executor::ViewOp>(user))
      return isHandedOver(user->getResult(0));
    return isa<scf::WhileOp>(user) || isTerminatorOfControlFlow(user);
  });
}

// Converts one host function.
class HostFunctionLowering {
public:
  HostFunctionLowering(func::FuncOp function, SymbolTableCollection &symbols)
      : function(function), symbols(symbols), rewriter(function.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> operations;
    function.getBody().walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations) {
      rewriter.setInsertionPoint(op);
      if (failed(convert(op)))
        return failure();
    }
    // Only now is it known where the scratch memory begins.
    for (plan::CallOp call : calls)
      launch(call);
    function.getBody().walk([&](executor::AllocOp alloc) { freeAfterLastUse(alloc); });
    function->setAttr(executor::ExecutorDialect::getWorkspaceBytesAttrName(),
                      rewriter.getI64IntegerAttr(bufferBytes + scratchBytes));
    return success();
  }

private:
  LogicalResult convert(Operation *op) {
    if (isa<executor::ExecutorDialect>(op->getDialect()) || isa<func::ReturnOp, scf::YieldOp, scf::ConditionOp>(op) ||
        convertScalarToExecutor(rewriter, op))
      return success();
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<memref::AllocOp, memref::DeallocOp, memref::CopyOp, memref::DimOp, memref::LoadOp, memref::StoreOp,
              memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::ViewOp, plan::AssertOp,
              plan::CallOp, plan::WithShapeOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::ForOp,
              tensorrt_runtime::EnqueueOp, tensorrt_runtime::EnqueueAllocOp>(
            [&](auto typed) { return convertOp(typed); })
        .Case([&](cf::AssertOp assertion) {
          rewriter.replaceOpWithNewOp<executor::AssertOp>(op, assertion.getArg(), assertion.getMsg(), ValueRange());
          return success();
        })
        .Default([](Operation *other) -> LogicalResult {
          return other->emitError() << "'" << other->getName() << "' has no form in the host program";
        });
  }

  //===--- Memory ------------------------------------------------------------------------------------------------===//

  LogicalResult convertOp(memref::AllocOp alloc) {
    // What is handed over lives on when the next iteration makes its own.
    if (!alloc.getType().hasStaticShape() || isHandedOver(alloc) || plan::isOnDevice(alloc.getType())) {
      rewriter.replaceOpWithNewOp<executor::AllocOp>(alloc, alloc.getType(), alloc.getDynamicSizes());
      return success();
    }
    auto bytes = executor::getByteSize(alloc.getType());
    if (failed(bytes))
      return alloc.emitError() << "a buffer between clusters needs the identity layout, got " << alloc.getType();
    // Every iteration would get the same place again.
    if (alloc->getParentOfType<LoopLikeOpInterface>() &&
        llvm::any_of(alloc->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }))
      return alloc.emitError("a buffer that is allocated in a loop leaves its iteration");
    rewriter.replaceOpWithNewOp<executor::WorkspaceOp>(alloc, alloc.getType(), bufferBytes);
    bufferBytes = llvm::alignTo(bufferBytes + *bytes, alignment);
    return success();
  }

  // Memory of run-time size goes back as soon as it can: what is held at once follows the actual sizes.
  void freeAfterLastUse(executor::AllocOp alloc) {
    if (isHandedOver(alloc))
      return;
    Operation *last = alloc;
    SmallVector<Value> worklist{alloc};
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        Operation *inBlock = alloc->getBlock()->findAncestorOpInBlock(*user);
        if (isa<executor::FreeOp>(user) || inBlock->hasTrait<OpTrait::IsTerminator>())
          return;
        if (last->isBeforeInBlock(inBlock))
          last = inBlock;
        if (isa<executor::ViewOp>(user))
          worklist.push_back(user->getResult(0));
      }
    rewriter.setInsertionPointAfter(last);
    executor::FreeOp::create(rewriter, alloc.getLoc(), alloc.getResult());
  }

  LogicalResult convertOp(memref::DeallocOp dealloc) {
    if (!dealloc.getMemref().getDefiningOp<executor::WorkspaceOp>())
      executor::FreeOp::create(rewriter, dealloc.getLoc(), dealloc.getMemref());
    rewriter.eraseOp(dealloc);
    return success();
  }

  LogicalResult convertOp(memref::CopyOp copy) {
    Value source = copy.getSource();
    auto from = dyn_cast<MemRefType>(source.getType()), to = dyn_cast<MemRefType>(copy.getTarget().getType());
    bool isWhole = from && to && succeeded(verifyCompatibleShape(from, to)) && from.getLayout().isIdentity() &&
                   to.getLayout().isIdentity() && from.getElementType() == to.getElementType() &&
                   from.getMemorySpace() == to.getMemorySpace();
    if (from != to && !isWhole)
      return copy.emitError() << "copies " << source.getType() << " to " << copy.getTarget().getType()
                              << "; the host copies whole buffers of one type";
    if (TypedAttr number = getOnlyNumber(source)) {
      rewriter.replaceOpWithNewOp<executor::FillOp>(copy, copy.getTarget(), number);
      return success();
    }
    // One type may know an extent that the other does not.
    if (from != to) {
      SmallVector<Value> sizes;
      for (int64_t dimension = 0; dimension < to.getRank(); ++dimension)
        if (to.isDynamicDim(dimension))
          sizes.push_back(dim(source, dimension));
      source = executor::ViewOp::create(rewriter, copy.getLoc(), to, source, Value(), sizes);
    }
    rewriter.replaceOpWithNewOp<executor::CopyOp>(copy, source, copy.getTarget());
    return success();
  }

  // The number that all elements of a constant are, where it is one: such constants need no place in the file.
  TypedAttr getOnlyNumber(Value buffer) {
    auto get = buffer.getDefiningOp<executor::GetConstantOp>();
    auto constant = get ? symbols.lookupNearestSymbolFrom<executor::ConstantOp>(get, get.getConstantAttr())
                        : executor::ConstantOp();
    auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    auto number = value ? dyn_cast<TypedAttr>(value.getSplatValue<Attribute>()) : TypedAttr();
    return number && succeeded(executor::getFillPattern(number)) ? number : TypedAttr();
  }

  LogicalResult convertOp(memref::DimOp dim) {
    std::optional<int64_t> dimension = dim.getConstantIndex();
    if (!dimension || !isa<MemRefType>(dim.getSource().getType()))
      return dim.emitError("asks for a dimension that is not constant");
    rewriter.replaceOpWithNewOp<executor::DimOp>(dim, dim.getSource(), *dimension);
    return success();
  }

  // The number, row-major, of an element at constant indices.
  static FailureOr<int64_t> getPosition(Operation *op, MemRefType type, ValueRange indices) {
    int64_t position = 0;
    for (auto [index, extent] : llvm::zip(indices, type.getShape())) {
      APInt value;
      if (!matchPattern(index, m_ConstantInt(&value)) || ShapedType::isDynamic(extent))
        return op->emitError("reads or writes an element at a place that is not constant");
      position = position * extent + value.getSExtValue();
    }
    if (!type.getElementType().isIntOrIndex())
      return op->emitError() << "reads or writes an element of type " << type.getElementType()
                             << "; the host computes integers";
    return position;
  }

  LogicalResult convertOp(memref::LoadOp load) {
    auto position = getPosition(load, load.getMemRefType(), load.getIndices());
    if (failed(position))
      return failure();
    rewriter.replaceOpWithNewOp<executor::LoadOp>(load, load.getType(), load.getMemref(), *position);
    return success();
  }

  LogicalResult convertOp(memref::StoreOp store) {
    auto position = getPosition(store, store.getMemRefType(), store.getIndices());
    if (failed(position))
      return failure();
    rewriter.replaceOpWithNewOp<executor::StoreOp>(store, store.getValueToStore(), store.getMemref(), *position);
    return success();
  }

  //===--- Views -------------------------------------------------------------------------------------------------===//

  Value dim(Value buffer, int64_t dimension) {
    return executor::DimOp::create(rewriter, buffer.getLoc(), buffer, dimension);
  }

  LogicalResult replaceByView(Operation *op, Value source, ValueRange sizes, Value offset = {}) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    auto from = dyn_cast<MemRefType>(source.getType());
    if (!from || !from.getLayout().isIdentity() || !type.getLayout().isIdentity())
      return op->emitError() << "sees " << source.getType() << " as " << type << "; buffers of the host are contiguous";
    rewriter.replaceOpWithNewOp<executor::ViewOp>(op, type, source, offset, sizes);
    return success();
  }

  LogicalResult convertOp(memref::CastOp cast) {
    auto type = dyn_cast<MemRefType>(cast.getType());
    if (!type)
      return cast.emitError("to a type without a rank has no form in the host program");
    SmallVector<Value> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        sizes.push_back(dim(cast.getSource(), dimension));
    return replaceByView(cast, cast.getSource(), sizes);
  }

  LogicalResult convertOp(memref::CollapseShapeOp collapse) {
    auto type = collapse.getResultType();
    SmallVector<Value> sizes;
    for (auto [dimension, group] : llvm::enumerate(collapse.getReassociationIndices())) {
      if (!type.isDynamicDim(dimension))
        continue;
      Value product;
      for (int64_t source : group) {
        Value extent = dim(collapse.getSrc(), source);
        product = product ? executor::MulOp::create(rewriter, collapse.getLoc(), product, extent).getResult() : extent;
      }
      sizes.push_back(product);
    }
    return replaceByView(collapse, collapse.getSrc(), sizes);
  }

  LogicalResult convertOp(memref::ExpandShapeOp expand) {
    return replaceByView(expand, expand.getSrc(), expand.getOutputShape());
  }

  LogicalResult convertOp(plan::WithShapeOp shaped) {
    return replaceByView(shaped, shaped.getOperand(), shaped.getExtents());
  }

  LogicalResult convertOp(memref::ViewOp view) {
    return replaceByView(view, view.getSource(), view.getSizes(), view.getByteShift());
  }

  //===--- Control flow ------------------------------------------------------------------------------------------===//

  LogicalResult checkCarried(Operation *op, TypeRange types) {
    for (Type type : types) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!type.isIntOrIndex() && !(memref && memref.getLayout().isIdentity()))
        return op->emitError() << "'" << op->getName() << "' carries a value of type " << type
                               << "; on the host it may carry integers and buffers with the identity layout";
    }
    return success();
  }

  LogicalResult convertOp(scf::IfOp op) { return checkCarried(op, op.getResultTypes()); }

  LogicalResult convertOp(scf::IndexSwitchOp op) { return checkCarried(op, op.getResultTypes()); }

  LogicalResult convertOp(scf::WhileOp op) {
    return failed(checkCarried(op, op.getInits().getTypes())) ? failure() : checkCarried(op, op.getResultTypes());
  }

  LogicalResult convertOp(scf::ForOp op) {
    APInt step;
    if (op.getUnsignedCmp() || !matchPattern(op.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive())
      return op.emitError("'scf.for' on the host counts signed, by a step that is a positive constant");
    return checkCarried(op, op.getResultTypes());
  }

  //===--- Engines -----------------------------------------------------------------------------------------------===//

  // Bytes of scratch memory that the callee of `call` needs.
  FailureOr<int64_t> getScratchBytes(plan::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(call, call.getCallee());
    if (!callee)
      return call.emitError() << "callee " << call.getCallee() << " has not been compiled by its engine";
    auto bytes = callee->getAttrOfType<IntegerAttr>("cpu.workspace_bytes");
    return bytes ? bytes.getInt() : 0;
  }

  LogicalResult convertOp(plan::AssertOp assertion) {
    auto load = [&](Value buffer) -> Value {
      if (!isa<MemRefType>(buffer.getType()))
        return buffer;
      Type element = cast<MemRefType>(buffer.getType()).getElementType();
      Type scalar = rewriter.getIntegerType(element.getIntOrFloatBitWidth());
      return executor::LoadOp::create(rewriter, assertion.getLoc(), scalar, buffer, 0);
    };
    Value condition = load(assertion.getCondition());
    SmallVector<Value> values(llvm::map_range(assertion.getValues(), load));
    rewriter.replaceOpWithNewOp<executor::AssertOp>(assertion, condition, assertion.getMessage(), values);
    return success();
  }

  LogicalResult convertOp(tensorrt_runtime::EnqueueOp run) {
    rewriter.replaceOpWithNewOp<executor::EnqueueOp>(run, run.getEngineAttr(), run.getInputs(), run.getOuts());
    return success();
  }

  LogicalResult convertOp(tensorrt_runtime::EnqueueAllocOp run) {
    int64_t dynamic = 0;
    for (Type type : run.getResultTypes())
      dynamic += cast<MemRefType>(type).getNumDynamicDims();
    SmallVector<Type> extents(dynamic, rewriter.getIndexType());
    auto lowered = executor::EnqueueAllocOp::create(rewriter, run.getLoc(), run.getResultTypes(), extents,
                                                    run.getEngineAttr(), run.getInputs(), run.getSlotsAttr());
    rewriter.replaceOp(run, lowered.getBuffers());
    return success();
  }

  LogicalResult convertOp(plan::CallOp call) {
    auto bytes = getScratchBytes(call);
    if (failed(bytes))
      return failure();
    scratchBytes = std::max(scratchBytes, *bytes);
    calls.push_back(call);
    return success();
  }

  void launch(plan::CallOp call) {
    rewriter.setInsertionPoint(call);
    Value scratch;
    if (int64_t bytes = *getScratchBytes(call); bytes != 0)
      scratch = executor::WorkspaceOp::create(rewriter, call.getLoc(), MemRefType::get({bytes}, rewriter.getI8Type()),
                                              bufferBytes);
    executor::LaunchOp::create(rewriter, call.getLoc(), call.getCallee(), call.getOperands(), scratch);
    rewriter.eraseOp(call);
  }

  func::FuncOp function;
  SymbolTableCollection &symbols;
  IRRewriter rewriter;
  int64_t bufferBytes = 0, scratchBytes = 0;
  SmallVector<plan::CallOp> calls;
};

class ConvertToExecutorPass : public impl::ConvertToExecutorPassBase<ConvertToExecutorPass> {
public:
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(HostFunctionLowering(function, symbols).run()))
        return signalPassFailure();
    convertEngines();
    eraseUnusedConstants();
  }

private:
  void eraseUnusedConstants() {
    llvm::StringSet<> used;
    getOperation().walk([&](executor::GetConstantOp get) {
      if (isOpTriviallyDead(get))
        get.erase();
      else
        used.insert(get.getConstant());
    });
    for (auto constant : llvm::make_early_inc_range(getOperation().getOps<executor::ConstantOp>()))
      if (!used.contains(constant.getSymName()))
        constant.erase();
  }

  void convertEngines() {
    for (auto engine : llvm::make_early_inc_range(getOperation().getOps<tensorrt_runtime::EngineOp>())) {
      OpBuilder builder(engine);
      executor::EngineOp::create(builder, engine.getLoc(), engine.getSymName(), "tensorrt", engine.getVersion(),
                                 engine.getSerialized());
      engine.erase();
    }
  }
};

} // namespace
} // namespace latewood::lower
