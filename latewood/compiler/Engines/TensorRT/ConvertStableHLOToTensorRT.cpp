// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass ConvertStableHLOToTensorRT, and the question whether an operation can be converted.
//
// In: a cluster function of the engine, on StableHLO and CHLO. Out: the same function on layers of the `tensorrt`
// dialect. The new operations are written next to the old ones, which stay until all is done: patterns look at the
// program as it was.
//
// Whether TensorRT takes an operation is asked by converting a copy of it, together with the constants that it reads,
// and by verifying what came out: the answer is the conversion's own, and where a layer's verifier refuses, the reason
// is the verifier's.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"

namespace latewood::tensorrt {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOTENSORRTPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"
} // namespace latewood::tensorrt

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

//===----------------------------------------------------------------------===//
// What TensorRT can hold
//===----------------------------------------------------------------------===//

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isElement(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1) || type.isSignlessInteger(4) ||
         type.isSignlessInteger(8) || type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isUnsignedInteger(8) || isa<Float8E4M3FNType, Float4E2M1FNType, Float8E8M0FNUType>(type);
}

/// Why a value of this type cannot be held, or nothing.
static std::optional<std::string> whyNotHeld(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "TensorRT has no values of type " + toString(type);
  if (tensor.getRank() > kMaxRank)
    return "TensorRT's tensors have at most 8 dimensions, but here is " + toString(type);
  if (!isElement(tensor.getElementType()))
    return "TensorRT has no elements of type " + toString(tensor.getElementType());
  return std::nullopt;
}

/// Operations that compute nothing: any element type that can be held may be moved.
static bool onlyMoves(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::CaseOp, stablehlo::ConcatenateOp, stablehlo::ConstantOp,
             stablehlo::ConvertOp, stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicReshapeOp,
             stablehlo::DynamicSliceOp, stablehlo::GatherOp, stablehlo::GetDimensionSizeOp, stablehlo::IfOp,
             stablehlo::OptimizationBarrierOp, stablehlo::PadOp, stablehlo::ReshapeOp, stablehlo::ReverseOp,
             stablehlo::SliceOp, stablehlo::TransposeOp, stablehlo::WhileOp>(op);
}

static std::optional<std::string> whyNotHeld(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    // Extents: a network has them as i64.
    if (isa<RankedTensorType>(type) && getElementTypeOrSelf(type).isIndex())
      continue;
    if (std::optional<std::string> why = whyNotHeld(type))
      return why;
    Type element = getElementTypeOrSelf(type);
    bool isNumber = element.isF32() || element.isF16() || element.isBF16() || element.isInteger(1) ||
                    element.isSignlessInteger(32) || element.isSignlessInteger(64);
    if (!isNumber && !onlyMoves(op))
      return "TensorRT does not compute with elements of type " + toString(element);
    if (element.isUnsignedInteger(8) && !isa<stablehlo::ConvertOp>(op))
      return std::string("TensorRT only converts ui8");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The operations that carry scalars of the host into a cluster: a network finds its extents itself.
static bool isOfHost(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, tensor::TensorDialect>(op->getDialect()) ||
         llvm::any_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
}

Results tensorrt::convertOperation(LayerBuilder &b, Operation *op) {
  b.setLoc(op->getLoc());
  b.reason.clear();
  if (isa_and_nonnull<TensorRTDialect>(op->getDialect())) {
    Operation *clone = b.clone(*op, b.values);
    return Results(SmallVector<Value>(clone->getResults()));
  }
  bool isPlan = op->getName().getDialectNamespace() == "plan";
  if (std::optional<std::string> why = isPlan ? std::nullopt : whyNotHeld(op))
    return b.fail(*why);
  Conversion conversion;
  for (auto family : {convertElementwise, convertShape, convertDynamic, convertContraction, convertReduction,
                      convertIndexing, convertControlFlow})
    if ((conversion = family(b, op)))
      break;
  if (!conversion)
    return b.fail("TensorRT has no layer for it");
  // Vectors of the host's scalars are i64 in networks, whatever they were.
  if (failed(*conversion) || isa<plan::WithValuesOp>(op))
    return *conversion;
  for (auto [value, type] : llvm::zip((**conversion), op->getResultTypes())) {
    if (!value)
      return failure();
    if (value.getType() == type)
      continue;
    if (!stablehlo::areCompatible(value.getType(), type))
      return b.fail("its result would have type " + toString(value.getType()) + " instead of " + toString(type));
    // What the old operation knew of its result stays known, and users see the type that they had.
    if (value.getDefiningOp() && value.use_empty() &&
        isa_and_nonnull<TensorRTDialect>(value.getDefiningOp()->getDialect()))
      value.setType(type);
    else
      value = IdentityOp::create(b, type, value);
  }
  return *conversion;
}

LogicalResult tensorrt::convertOperations(LayerBuilder &b, Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isOfHost(&op))
      continue;
    Results results = convertOperation(b, &op);
    if (failed(results)) {
      std::string why = b.reason.empty() ? "a layer refuses it" : b.reason;
      b.reason = ("'" + op.getName().getStringRef() + "' in it: " + why).str();
      return failure();
    }
    b.values.map(op.getResults(), *results);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The question
//===----------------------------------------------------------------------===//

/// Values that patterns look through: constants, and counters that are reshaped or repeated.
static bool isSeenThrough(Operation *op) {
  return isa<stablehlo::ConstantOp, stablehlo::IotaOp, stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::ConvertOp>(op);
}

/// Copies what defines `value`, a few operations deep; what is deeper becomes an argument of `block`.
static void copyOperand(Value value, Block &block, OpBuilder &builder, IRMapping &mapping, int depth) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && depth > 0 && isSeenThrough(op) && op->getNumResults() == 1) {
    for (Value operand : op->getOperands())
      copyOperand(operand, block, builder, mapping, depth - 1);
    builder.clone(*op, mapping);
    return;
  }
  mapping.map(value, block.addArgument(value.getType(), value.getLoc()));
}

std::optional<std::string> tensorrt::whyNotConvertible(Operation *op) {
  if (isa_and_nonnull<TensorRTDialect>(op->getDialect()))
    return std::nullopt;
  if (std::optional<std::string> why = whyNotHeld(op))
    return why;
  OpBuilder builder(op->getContext());
  OwningOpRef<func::FuncOp> function =
      func::FuncOp::create(builder, op->getLoc(), "question", builder.getFunctionType({}, op->getResultTypes()));
  Block &old = function->getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&old);
  IRMapping mapping;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used)
    copyOperand(value, old, builder, mapping, 4);
  // Scalars of the host are looked for among the function's arguments.
  function->setFunctionType(builder.getFunctionType(old.getArgumentTypes(), op->getResultTypes()));
  Operation *copy = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());

  std::string refusal;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (refusal.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      refusal = diagnostic.str();
    return success();
  });
  Block &converted = function->getBody().emplaceBlock();
  LayerBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointToEnd(&converted);
  for (BlockArgument argument : old.getArguments()) {
    Type type = argument.getType();
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getElementType().isIndex())
      type = tensor.clone(builder.getI64Type());
    b.values.map(argument, converted.addArgument(type, argument.getLoc()));
  }
  std::optional<std::string> why;
  for (Operation &each : old.without_terminator()) {
    Results results = convertOperation(b, &each);
    if (succeeded(results)) {
      b.values.map(each.getResults(), *results);
      continue;
    }
    if (&each == copy) {
      why = b.reason.empty() ? refusal : b.reason;
      break;
    }
    // Something that was only looked through: the operation reads it as an argument.
    refusal.clear();
    for (Value result : each.getResults())
      b.values.map(result, converted.addArgument(result.getType(), result.getLoc()));
  }
  if (!why) {
    func::ReturnOp::create(
        b, SmallVector<Value>(llvm::map_range(copy->getResults(), [&](Value value) { return b.map(value); })));
    old.erase();
    function->setFunctionType(builder.getFunctionType(converted.getArgumentTypes(), op->getResultTypes()));
    if (failed(verify(*function)))
      why = refusal;
  }
  return why;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

bool tensorrt::isForTensorRT(Operation *function) {
  Attribute engine =
      function->getParentOp() ? function->getParentOp()->getAttr(plan::PlanDialect::getEngineAttrName()) : Attribute();
  return !engine || isa<plan::TensorRTEngineAttr>(engine);
}

namespace {

struct ConvertStableHLOToTensorRTPass
    : tensorrt::impl::ConvertStableHLOToTensorRTPassBase<ConvertStableHLOToTensorRTPass> {
  using ConvertStableHLOToTensorRTPassBase::ConvertStableHLOToTensorRTPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !isForTensorRT(function))
      return;
    if (!llvm::hasSingleElement(function.getBody())) {
      function.emitError("has a body of several blocks; structured control flow is expected here");
      return signalPassFailure();
    }
    Block &old = function.getBody().front();
    Block &block = function.getBody().emplaceBlock();
    LayerBuilder b(function.getLoc(), &getContext());
    b.setInsertionPointToEnd(&block);
    for (BlockArgument argument : old.getArguments())
      b.values.map(argument, block.addArgument(argument.getType(), argument.getLoc()));

    bool isConverted = true;
    for (Operation &op : old.without_terminator()) {
      if (partial && (isOfHost(&op) || whyNotConvertible(&op))) {
        b.clone(op, b.values);
        continue;
      }
      if (isOfHost(&op))
        continue;
      Results results = convertOperation(b, &op);
      if (failed(results)) {
        isConverted = false;
        op.emitError() << "'" << op.getName()
                       << "' cannot be converted to TensorRT: " << (b.reason.empty() ? "a layer refuses it" : b.reason);
        for (Value result : op.getResults())
          b.values.map(result, old.addArgument(result.getType(), result.getLoc()));
        continue;
      }
      b.values.map(op.getResults(), *results);
    }
    if (!isConverted) {
      block.erase();
      return signalPassFailure();
    }
    b.clone(*old.getTerminator(), b.values);
    // What the host gave for scalars has no meaning in a network.
    for (Operation &op : block)
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == &old && isConverted) {
            inner->emitError() << "'" << inner->getName()
                               << "' reads a value that the host computes, which a network cannot";
            isConverted = false;
          }
      });
    if (!isConverted) {
      block.erase();
      return signalPassFailure();
    }
    old.erase();
    eraseUnused(block);
  }

private:
  static void eraseUnused(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
