// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass RefineShapes: types of results become as precise as operands and constant shape operands say.
//
//   %s = stablehlo.constant dense<[4, 8]>
//   %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
// has the result type tensor<4x8xf32> afterwards, and so has what is computed from it.
//
// In: inlined functions. Out: the same operations with result types that follow from the operands; the function returns
// what it was found to return. A value that a loop carries keeps one type: it is refined as far as the loop's body
// gives that type back, and a more precise value that enters the loop is converted to the carried type.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/ConstantEvaluation.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_REFINESHAPESPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

constexpr int64_t kUnknown = ShapedType::kDynamic;

/// A type with what both shapes know; `type` when they contradict each other, which the verifier reports.
Type merge(Type type, ArrayRef<int64_t> more) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  if (failed(stablehlo::mergeShape(shape, more)) || ArrayRef<int64_t>(shape) == tensor.getShape() ||
      llvm::any_of(shape, [](int64_t extent) { return extent < 0 && extent != kUnknown; }))
    return type;
  // Bounds belong to extents that are not known.
  Attribute encoding = tensor.getEncoding();
  if (auto bounds = dyn_cast_or_null<stablehlo::BoundsAttr>(encoding)) {
    SmallVector<int64_t> left(bounds.getBounds());
    for (auto [bound, extent] : llvm::zip_equal(left, shape))
      if (extent != kUnknown)
        bound = kUnknown;
    bool isBounded = llvm::any_of(left, [](int64_t bound) { return bound != kUnknown; });
    encoding = isBounded ? stablehlo::BoundsAttr::get(type.getContext(), left) : Attribute();
  }
  return RankedTensorType::get(shape, tensor.getElementType(), encoding);
}

Type merge(Type type, Type more) {
  auto tensor = dyn_cast<RankedTensorType>(more);
  return tensor ? merge(type, tensor.getShape()) : type;
}

/// A type without the extents that `other` does not have.
Type weaken(Type type, Type other) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto against = dyn_cast<RankedTensorType>(other);
  if (!tensor || !against || tensor.getRank() != against.getRank())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [extent, given] : llvm::zip_equal(shape, against.getShape()))
    if (extent != given)
      extent = kUnknown;
  return RankedTensorType::get(shape, tensor.getElementType(), against.getEncoding());
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// `compute` of known numbers.
template <typename Compute, typename... Numbers>
int64_t ifKnown(Compute compute, Numbers... numbers) {
  return ((numbers == kUnknown) || ...) ? kUnknown : compute(numbers...);
}

SmallVector<int64_t> refinePad(stablehlo::DynamicPadOp op) {
  int64_t rank = op.getType().getRank();
  SmallVector<int64_t> low = evaluateExtents(op.getEdgePaddingLow(), rank);
  SmallVector<int64_t> high = evaluateExtents(op.getEdgePaddingHigh(), rank);
  SmallVector<int64_t> interior = evaluateExtents(op.getInteriorPadding(), rank);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(ifKnown(
        [](__int128 extent, __int128 before, __int128 after, __int128 between) {
          return stablehlo::saturate(before + after + extent + std::max<__int128>(extent - 1, 0) * between);
        },
        op.getOperand().getType().getDimSize(dim), low[dim], high[dim], interior[dim]));
  return shape;
}

SmallVector<int64_t> refineSlice(stablehlo::RealDynamicSliceOp op) {
  int64_t rank = op.getType().getRank();
  SmallVector<int64_t> start = evaluateExtents(op.getStartIndices(), rank);
  SmallVector<int64_t> limit = evaluateExtents(op.getLimitIndices(), rank);
  SmallVector<int64_t> stride = evaluateExtents(op.getStrides(), rank);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(ifKnown(
        [](int64_t first, int64_t end, int64_t step) {
          return step <= 0 || first < 0 || end < first ? kUnknown : llvm::divideCeil(end - first, step);
        },
        start[dim], limit[dim], stride[dim]));
  return shape;
}

SmallVector<int64_t> refineGather(stablehlo::DynamicGatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> sizes = evaluateExtents(op.getSliceSizes(), op.getOperand().getType().getRank());
  SmallVector<int64_t> batch(op.getStartIndices().getType().getShape()), shape;
  if (numbers.getIndexVectorDim() < static_cast<int64_t>(batch.size()))
    batch.erase(batch.begin() + numbers.getIndexVectorDim());
  SmallVector<int64_t> offsets;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), static_cast<int64_t>(dim)) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), static_cast<int64_t>(dim)))
      offsets.push_back(size);
  size_t nextBatch = 0, nextOffset = 0;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    bool isOffset = llvm::is_contained(numbers.getOffsetDims(), dim);
    ArrayRef<int64_t> from = isOffset ? offsets : batch;
    size_t &next = isOffset ? nextOffset : nextBatch;
    shape.push_back(next < from.size() ? from[next] : kUnknown);
    ++next;
  }
  return shape;
}

SmallVector<int64_t> refineConvolution(stablehlo::DynamicConvOp op) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  int64_t rank = op.getType().getRank(), spatial = rank - 2;
  SmallVector<int64_t> padding = evaluateExtents(op.getPadding(), 2 * spatial);
  SmallVector<int64_t> strides = op.getStrides(), inner = op.getInputDilations(), outer = op.getKernelDilations();
  SmallVector<int64_t> shape(rank, kUnknown);
  ArrayRef<int64_t> input = shapeOf(op.getLhs()), kernel = shapeOf(op.getRhs());
  int64_t groups = op.getBatchGroupCount();
  shape[numbers.getOutputBatchDimension()] =
      ifKnown([&](int64_t batch) { return batch / groups; }, input[numbers.getInputBatchDimension()]);
  shape[numbers.getOutputFeatureDimension()] = kernel[numbers.getKernelOutputFeatureDimension()];
  for (int64_t i = 0; i < spatial; ++i) {
    if (padding[2 * i] == kUnknown || padding[2 * i + 1] == kUnknown)
      continue;
    stablehlo::WindowDimension window{kernel[numbers.getKernelSpatialDimensions()[i]],
                                      strides[i],
                                      inner[i],
                                      outer[i],
                                      padding[2 * i],
                                      padding[2 * i + 1]};
    shape[numbers.getOutputSpatialDimensions()[i]] =
        stablehlo::countWindows(input[numbers.getInputSpatialDimensions()[i]], window);
  }
  return shape;
}

/// The calls that frameworks make where an attribute of an operation would have to be computed.
SmallVector<int64_t> refineCall(stablehlo::CustomCallOp op, RankedTensorType type) {
  if (op.getCallTargetName() == "stablehlo.dynamic_top_k" && op->getNumOperands() == 2 && type.getRank() > 0) {
    auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!operand || operand.getRank() != type.getRank())
      return {};
    SmallVector<int64_t> shape(operand.getShape());
    shape.back() = evaluateElement(op->getOperand(1), 0).value_or(kUnknown);
    return shape;
  }
  if (op.getCallTargetName() == "stablehlo.dynamic_rng_bit_generator" && op->getNumOperands() == 2 &&
      type == op->getResultTypes()[op->getNumResults() - 1])
    return evaluateExtents(op->getOperand(1), type.getRank());
  return {};
}

/// What is known of the results of `op`; types of its results where nothing is.
SmallVector<Type> inferTypes(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  auto refine = [&](ArrayRef<int64_t> shape) { types.front() = merge(types.front(), shape); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::DynamicBroadcastInDimOp broadcast) {
        SmallVector<int64_t> shape = evaluateExtents(broadcast.getOutputDimensions(), broadcast.getType().getRank());
        // An extent of the operand that is not 1 is the result's.
        for (auto [extent, dim] : llvm::zip_equal(shapeOf(broadcast.getOperand()), broadcast.getBroadcastDimensions()))
          if (extent != kUnknown && extent != 1)
            shape[dim] = extent;
        refine(shape);
      })
      .Case([&](stablehlo::DynamicReshapeOp reshape) {
        refine(evaluateExtents(reshape.getOutputShape(), reshape.getType().getRank()));
      })
      .Case([&](stablehlo::DynamicIotaOp iota) {
        refine(evaluateExtents(iota.getOutputShape(), iota.getType().getRank()));
      })
      .Case([&](stablehlo::RngOp rng) { refine(evaluateExtents(rng.getShape(), rng.getType().getRank())); })
      .Case([&](stablehlo::DynamicPadOp pad) { refine(refinePad(pad)); })
      .Case([&](stablehlo::RealDynamicSliceOp slice) { refine(refineSlice(slice)); })
      .Case([&](stablehlo::DynamicGatherOp gather) { refine(refineGather(gather)); })
      .Case([&](stablehlo::DynamicConvOp convolution) { refine(refineConvolution(convolution)); })
      .Case([&](stablehlo::SetDimensionSizeOp set) {
        SmallVector<int64_t> shape(shapeOf(set.getOperand()));
        shape[set.getDimension()] = evaluateElement(set.getSize(), 0).value_or(kUnknown);
        refine(shape);
      })
      .Case([&](stablehlo::CustomCallOp call) {
        for (Type &type : types)
          if (auto tensor = dyn_cast<RankedTensorType>(type))
            if (SmallVector<int64_t> shape = refineCall(call, tensor); !shape.empty())
              type = merge(type, shape);
      })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>([&](Operation *branch) {
        // What all branches agree about.
        for (auto [i, type] : llvm::enumerate(types)) {
          Type common;
          for (Region &region : branch->getRegions()) {
            Type given = region.front().getTerminator()->getOperand(i).getType();
            common = common ? weaken(common, given) : given;
          }
          type = merge(type, common);
        }
      })
      .Default([&](Operation *) {
        if (op->hasTrait<stablehlo::ElementwiseTrait>())
          for (Value operand : op->getOperands())
            for (Type &type : types)
              if (shapeOf(operand).size() == cast<RankedTensorType>(type).getShape().size())
                type = merge(type, operand.getType());
        auto inference = dyn_cast<InferTypeOpInterface>(op);
        SmallVector<Type> inferred;
        if (!inference ||
            failed(inference.inferReturnTypes(op->getContext(), std::nullopt, op->getOperands(),
                                              op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
                                              inferred)) ||
            inferred.size() != types.size())
          return;
        for (auto [type, more] : llvm::zip_equal(types, inferred))
          type = merge(type, more);
      });
  return types;
}

class Refinement {
public:
  /// Refines all results in `region` until nothing changes.
  void run(Region &region) {
    bool changed;
    do {
      changed = false;
      for (Operation &op : region.getOps())
        changed |= refine(&op);
    } while (changed);
  }

private:
  static bool setTypes(ValueRange values, ArrayRef<Type> types) {
    bool changed = false;
    for (auto [value, type] : llvm::zip_equal(values, types)) {
      changed |= value.getType() != type;
      value.setType(type);
    }
    return changed;
  }

  bool refine(Operation *op) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      return refineLoop(loop);
    if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      for (Region &region : op->getRegions())
        run(region);
    if (llvm::all_of(op->getResultTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return !tensor || tensor.hasStaticShape();
        }))
      return false;
    return setTypes(op->getResults(), inferTypes(op));
  }

  /// Assumes that the carried types are those that enter, and takes back what the body does not give back.
  bool refineLoop(stablehlo::WhileOp loop) {
    SmallVector<Type> declared(loop->getResultTypes()), carried;
    for (auto [type, operand] : llvm::zip_equal(declared, loop->getOperands()))
      carried.push_back(merge(type, operand.getType()));
    if (carried == declared) {
      run(loop.getCond());
      run(loop.getBody());
      return false;
    }
    SmallVector<std::pair<Value, Type>> before;
    loop.getBody().walk([&](Operation *op) {
      for (Value result : op->getResults())
        before.push_back({result, result.getType()});
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          before.push_back({argument, argument.getType()});
    });
    while (true) {
      setTypes(loop.getBody().getArguments(), carried);
      run(loop.getBody());
      SmallVector<Type> next;
      for (auto [type, given] : llvm::zip_equal(carried, loop.getBody().front().getTerminator()->getOperandTypes()))
        next.push_back(weaken(type, given));
      // Never below what is declared.
      for (auto [type, least] : llvm::zip_equal(next, declared))
        type = merge(least, type);
      if (next == carried)
        break;
      carried = next;
      for (auto [value, type] : before)
        value.setType(type);
    }
    setTypes(loop.getCond().getArguments(), carried);
    run(loop.getCond());
    return setTypes(loop->getResults(), carried);
  }
};

/// Gives loops and branches operands of exactly the types that they have.
void settleTypes(Operation *op) {
  auto settle = [](OpOperand &operand, Type type) {
    if (operand.get().getType() == type)
      return;
    OpBuilder b(operand.getOwner());
    operand.set(stablehlo::ConvertOp::create(b, operand.getOwner()->getLoc(), type, operand.get()));
  };
  if (isa<stablehlo::WhileOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      settle(operand, op->getResult(operand.getOperandNumber()).getType());
  if (!isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
    return;
  for (Region &region : op->getRegions()) {
    if (isa<stablehlo::WhileOp>(op) && region.getRegionNumber() == 0)
      continue;
    for (OpOperand &operand : region.front().getTerminator()->getOpOperands())
      settle(operand, op->getResult(operand.getOperandNumber()).getType());
  }
}

class RefineShapesPass : public impl::RefineShapesPassBase<RefineShapesPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate() || !llvm::hasSingleElement(function.getBody()))
      return;
    Refinement().run(function.getBody());
    function.walk(settleTypes);
    auto terminator = dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
    if (terminator)
      function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), terminator.getOperandTypes()));
  }
};

} // namespace
} // namespace latewood::input
