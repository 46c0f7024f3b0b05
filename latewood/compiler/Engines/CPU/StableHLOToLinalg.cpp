// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass ConvertStableHLOToLinalg: cluster functions on StableHLO become functions on linalg, tensor, arith, math and
// scf.
//
// In: a cluster function. Out: the same function without StableHLO, on tensors of signless integers and floats; no
// tensor of i1. Every result is written into its destination by bufferization.materialize_in_destination. Element types
// of the signature are the storage types (see StableHLOToLinalg.h); the attributes of its arguments stay.
//
// Everything that the conversion cannot take is reported before anything is changed, so that the message is about the
// program and not about the conversion.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOLINALGPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

static bool isInputDialect(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "chlo";
}

/// Operations whose regions compute on tensors: each operation in them is converted on its own.
static bool hasTensorRegions(Operation *op) { return isa<stablehlo::CaseOp, stablehlo::IfOp, stablehlo::WhileOp>(op); }

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Complex values are taken apart and put together; nothing else is done with them.
static bool isAtBorder(Operation *op) { return isa<stablehlo::RealOp, stablehlo::ImagOp, stablehlo::ComplexOp>(op); }

/// Why a value of this type cannot be held, or nothing.
static std::optional<std::string> whyNotHeld(Type type, bool mayBeComplex = false) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "values of type " + toString(type);
  if (isa<ComplexType>(tensor.getElementType())) {
    if (!mayBeComplex)
      return std::string("complex element types");
  } else if (!cpu::getStorageType(tensor.getElementType()))
    return "element type " + toString(tensor.getElementType());
  return std::nullopt;
}

/// Why the extents that converting `op` needs are not known, or nothing. Operations with tensor regions need none of
/// their own.
static std::optional<std::string> whyShapeless(Operation *op) {
  if (!hasTensorRegions(op) && !isa<stablehlo::ReturnOp, stablehlo::OptimizationBarrierOp>(op)) {
    for (Value operand : op->getOperands())
      if (!cpu::hasKnownExtents(operand))
        return "an operand of type " + toString(operand.getType()) + " whose extents are not known as scalars";
    if (!op->use_empty() && !cpu::hasKnownExtents(op->getResults()))
      return "a result of type " + toString(op->getResult(0).getType()) + " whose extents are not known as scalars";
  }
  SmallVector<Value> shapes;
  if (auto pad = dyn_cast<stablehlo::DynamicPadOp>(op))
    shapes = {pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(), pad.getInteriorPadding()};
  else if (auto slice = dyn_cast<stablehlo::RealDynamicSliceOp>(op))
    shapes = {slice.getStartIndices(), slice.getStrides()};
  else if (auto convolution = dyn_cast<stablehlo::DynamicConvOp>(op))
    shapes = {convolution.getPadding()};
  if (!llvm::all_of(shapes, cpu::hasKnownValues))
    return std::string("an operand whose values are not known as scalars");
  return std::nullopt;
}

std::optional<std::string> cpu::whyNotConvertible(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (std::optional<std::string> reason = whyNotHeld(type, isAtBorder(op)))
      return reason;
  if (std::optional<std::string> reason = whyShapeless(op))
    return reason;
  if (isScalarOp(op))
    return std::nullopt;
  if (isAtBorder(op) && llvm::any_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                                     [](Type type) { return isa<ComplexType>(cpu::getElement(type)); }))
    return std::nullopt;
  if (isa<stablehlo::BitcastConvertOp, stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::ConstantOp,
          stablehlo::ConvolutionOp, stablehlo::DotGeneralOp, stablehlo::DynamicBroadcastInDimOp,
          stablehlo::DynamicConvOp, stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp, stablehlo::DynamicPadOp,
          stablehlo::DynamicReshapeOp, stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp,
          stablehlo::GetDimensionSizeOp, stablehlo::IotaOp, stablehlo::OptimizationBarrierOp, stablehlo::PadOp,
          stablehlo::RealDynamicSliceOp, stablehlo::ReshapeOp, stablehlo::ReturnOp, stablehlo::ReverseOp,
          stablehlo::SetDimensionSizeOp, stablehlo::SliceOp, stablehlo::TransposeOp>(op))
    return std::nullopt;
  if (hasTensorRegions(op)) {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (std::optional<std::string> reason = isInputDialect(&inner) ? whyNotConvertible(&inner) : std::nullopt)
          return ("'" + inner.getName().getStringRef() + "' in it: " + *reason).str();
    return std::nullopt;
  }
  if (isa<stablehlo::MapOp, stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp,
          stablehlo::SelectAndScatterOp, stablehlo::SortOp>(op)) {
    for (Region &region : op->getRegions())
      if (Operation *obstacle = findNonScalarOp(region.front()))
        return ("'" + obstacle->getName().getStringRef() + "' in the region of the operation").str();
    return std::nullopt;
  }
  if (cpu::isNonzero(op))
    return std::nullopt;
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return ("custom call target '" + call.getCallTargetName() + "'").str();
  // What is left has been expanded wherever it can be; some expansions need to know how large the tensor is.
  bool isDynamic = llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  });
  return std::string(isDynamic ? "the operation has no implementation for these unknown extents"
                               : "the operation has no implementation");
}

/// Reports every operation that cannot be converted.
static LogicalResult checkConvertible(func::FuncOp function) {
  bool isConvertible = true;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
    if (type.isIntOrIndex()) // an extent, or a small value
      continue;
    if (std::optional<std::string> reason = whyNotHeld(type, /*mayBeComplex=*/true)) {
      function.emitError() << "the CPU engine does not support " << *reason << " yet: the signature has type " << type;
      return failure();
    }
  }
  // Scalar code in the region of a reduction is converted with it.
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isInputDialect(op))
      return WalkResult::advance();
    if (hasTensorRegions(op) && llvm::none_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                                              [](Type type) { return whyNotHeld(type).has_value(); }))
      return WalkResult::advance();
    if (std::optional<std::string> reason = cpu::whyNotConvertible(op)) {
      isConvertible = false;
      InFlightDiagnostic diagnostic = op->emitError() << "'" << op->getName()
                                                      << "' is not supported by the CPU engine yet: " << *reason;
      diagnostic << " (operands: " << op->getOperandTypes() << "; results: " << op->getResultTypes() << ")";
      return WalkResult::skip();
    }
    return WalkResult::skip();
  });
  return success(isConvertible);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

/// Writes `value` into `destination`. When the value is a reshaped one, the destination is reshaped instead, so that
/// what computes the value can write in place.
Value materialize(ImplicitLocOpBuilder &b, Value value, Value destination) {
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto type = expand.getSrcType();
    Value target = tensor::CollapseShapeOp::create(b, type, destination, expand.getReassociationIndices());
    Value written = materialize(b, expand.getSrc(), target);
    return tensor::ExpandShapeOp::create(b, expand.getResultType(), written, expand.getReassociationIndices(),
                                         expand.getMixedOutputShape());
  }
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  std::optional<cpu::Extents> extents = collapse ? cpu::findExtents(b, collapse.getSrc()) : std::nullopt;
  if (extents) {
    auto type = collapse.getSrcType();
    Value target = tensor::ExpandShapeOp::create(b, type, destination, collapse.getReassociationIndices(), *extents);
    Value written = materialize(b, collapse.getSrc(), target);
    return tensor::CollapseShapeOp::create(b, collapse.getResultType(), written, collapse.getReassociationIndices());
  }
  return bufferization::MaterializeInDestinationOp::create(b, value.getType(), value, destination).getResult();
}

/// The trailing arguments with the attribute `plan.out` are the destinations of the results.
struct ReturnInDestinations : OpConversionPattern<func::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<func::FuncOp>();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> results(adaptor.getOperands());
    unsigned arguments = function.getNumArguments();
    bool hasDestinations = arguments >= results.size() && !results.empty() &&
                           function.getArgAttr(arguments - 1, plan::PlanDialect::getOutAttrName());
    if (hasDestinations)
      for (auto [i, result] : llvm::enumerate(results)) {
        Value destination = function.getArgument(arguments - results.size() + i);
        if (destination.getType() != result.getType())
          destination = rewriter.getRemappedValue(destination);
        result = materialize(b, result, destination);
      }
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, results);
    return success();
  }
};

struct StorageTypeConverter : TypeConverter {
  StorageTypeConverter() {
    addConversion([](Type type) { return type; });
    addConversion([](RankedTensorType type) -> std::optional<Type> {
      if (auto complex = dyn_cast<ComplexType>(type.getElementType()); complex && complex.getElementType().isF64()) {
        SmallVector<int64_t> shape(type.getShape());
        shape.push_back(2);
        return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 64));
      }
      Type storage = cpu::getStorageType(type.getElementType());
      return storage ? RankedTensorType::get(type.getShape(), storage) : Type();
    });
  }
};

struct ConvertStableHLOToLinalgPass : cpu::impl::ConvertStableHLOToLinalgPassBase<ConvertStableHLOToLinalgPass> {
  using ConvertStableHLOToLinalgPassBase::ConvertStableHLOToLinalgPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(checkConvertible(function)))
      return signalPassFailure();

    StorageTypeConverter types;
    RewritePatternSet patterns(&getContext());
    cpu::populateComplexToSlices(types, patterns);
    cpu::populateDynamicToLinalg(types, patterns);
    cpu::populateElementwiseToLinalg(types, patterns);
    cpu::populateShapeToLinalg(types, patterns);
    cpu::populateReductionToLinalg(types, patterns);
    cpu::populateContractionToLinalg(types, patterns);
    cpu::populateIndexingToLinalg(types, patterns);
    cpu::populateScatterToLoops(types, patterns);
    cpu::populateCompactToLoops(types, patterns);
    cpu::populateSortToLoops(types, patterns);
    cpu::populateWindowToLinalg(types, patterns);
    cpu::populateControlFlowToSCF(types, patterns);
    patterns.add<ReturnInDestinations>(types, &getContext());
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);

    ConversionTarget target(getContext());
    target.addIllegalDialect("stablehlo", "chlo");
    target.addIllegalOp<plan::WithShapeOp, plan::WithValuesOp>();
    target.addLegalDialect<arith::ArithDialect, bufferization::BufferizationDialect, linalg::LinalgDialect,
                           math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
    target.addDynamicallyLegalOp<func::FuncOp>(
        [&](func::FuncOp op) { return types.isSignatureLegal(op.getFunctionType()) && types.isLegal(&op.getBody()); });
    // A return is converted once: afterwards its operands have storage types and are written already.
    llvm::SmallPtrSet<Operation *, 4> returns;
    function.walk([&](func::ReturnOp op) { returns.insert(op); });
    target.addDynamicallyLegalOp<func::ReturnOp>([&](func::ReturnOp op) { return !returns.contains(op); });
    if (failed(applyFullConversion(function, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
