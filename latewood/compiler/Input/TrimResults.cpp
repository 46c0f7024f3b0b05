// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of the length that data gives them. A framework whose shapes are static writes a padded tensor and its true
// length, and marks them: `latewood.trim`. Where the marked value is a public result, the result gets a dynamic
// dimension and is cut to that length. `latewood.nonzero` gives padded indices and their number in the same way; where
// all of them are cut to that number, they are computed at their true length in the first place.
//
// In:  custom calls `latewood.trim` and padded `latewood.nonzero`, made of composites, in functions without calls.
// Out: neither; `latewood.nonzero` with one result of dynamic length for each dimension of its operand.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace latewood::input {
#define GEN_PASS_DEF_TRIMRESULTSPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

// One integer, of any type, as tensor<1xi32>.
Value toVector(Builder &b, Value number) {
  Type i32 = b.getI32Type();
  if (getElementTypeOrSelf(number.getType()) != i32)
    number = stablehlo::ConvertOp::create(b, RankedTensorType::get({}, i32), number);
  return stablehlo::ReshapeOp::create(b, RankedTensorType::get({1}, i32), number);
}

Value constantVector(Builder &b, ArrayRef<int32_t> numbers) {
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())}, b.getI32Type());
  return stablehlo::ConstantOp::create(b, DenseIntElementsAttr::get(type, numbers));
}

// The first `length` elements of `tensor` along `dim`. A length that is none is moved to the nearest one.
stablehlo::RealDynamicSliceOp cut(Builder &b, Value tensor, Value length, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> limits;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value extent = stablehlo::GetDimensionSizeOp::create(b, tensor, i);
    Value limit = toVector(b, extent);
    if (i == dim)
      limit = stablehlo::ClampOp::create(b, constantVector(b, {0}), toVector(b, length), limit);
    limits.push_back(limit);
  }
  Value limit = limits.size() == 1 ? limits.front() : Value(stablehlo::ConcatenateOp::create(b, limits, 0));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = ShapedType::kDynamic;
  return stablehlo::RealDynamicSliceOp::create(b, type.clone(shape), tensor,
                                               constantVector(b, SmallVector<int32_t>(type.getRank(), 0)), limit,
                                               constantVector(b, SmallVector<int32_t>(type.getRank(), 1)));
}

struct TrimResultsPass : input::impl::TrimResultsPassBase<TrimResultsPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::CustomCallOp> trims, paddedIndices;
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == "latewood.trim")
        trims.push_back(call);
      if (call.getCallTargetName() == "latewood.nonzero" && call->getNumOperands() == 1 &&
          call->getNumResults() != cast<RankedTensorType>(call->getOperand(0).getType()).getRank())
        paddedIndices.push_back(call);
    });
    for (stablehlo::CustomCallOp trim : trims)
      if (failed(resolveTrim(trim)))
        return signalPassFailure();
    for (stablehlo::CustomCallOp call : paddedIndices)
      if (failed(resolveNonzero(call)))
        return signalPassFailure();
  }

  LogicalResult resolveTrim(stablehlo::CustomCallOp trim) {
    auto attributes = dyn_cast_or_null<DictionaryAttr>(trim.getBackendConfig().value_or(Attribute()));
    auto number = attributes ? attributes.getAs<IntegerAttr>("dimension") : IntegerAttr();
    int64_t dim = number ? number.getInt() : 0;
    auto type = trim->getNumOperands() == 2 && trim->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(trim->getOperand(0).getType())
                    : RankedTensorType();
    auto length = type ? dyn_cast<RankedTensorType>(trim->getOperand(1).getType()) : RankedTensorType();
    if (!type || !length || length.getRank() != 0 || !length.getElementType().isInteger() || dim < 0 ||
        dim >= type.getRank())
      return trim.emitError("'latewood.trim' takes a tensor and a 0-dimensional integer, its length along 'dimension', "
                            "and gives the tensor");
    Value source = trim->getOperand(0);
    for (OpOperand &use : llvm::make_early_inc_range(trim->getResult(0).getUses())) {
      auto terminator = dyn_cast<func::ReturnOp>(use.getOwner());
      auto function = terminator ? cast<func::FuncOp>(terminator->getParentOp()) : func::FuncOp();
      if (!function || function.isPrivate()) {
        use.set(source);
        continue;
      }
      Builder b(trim.getLoc(), trim);
      use.set(cut(b, source, trim->getOperand(1), dim));
      SmallVector<Type> results(function.getResultTypes());
      results[use.getOperandNumber()] = use.get().getType();
      function.setType(b.getFunctionType(function.getArgumentTypes(), results));
    }
    trim.erase();
    return success();
  }

  LogicalResult resolveNonzero(stablehlo::CustomCallOp call) {
    unsigned rank = call->getNumResults() - 1;
    Value count = call->getResult(rank);
    SmallVector<stablehlo::RealDynamicSliceOp> cuts;
    bool allCut = true;
    for (Value indices : call->getResults().take_front(rank))
      for (Operation *user : indices.getUsers()) {
        // The only ones yet that are cut are those that trims have become.
        if (isa<stablehlo::GetDimensionSizeOp>(user))
          continue;
        auto slice = dyn_cast<stablehlo::RealDynamicSliceOp>(user);
        if (slice && isCutTo(slice, count))
          cuts.push_back(slice);
        else
          allCut = false;
      }
    Builder b(call.getLoc(), call);
    if (!allCut || cuts.empty())
      return inlineDecomposition(b, call);
    SmallVector<Type> types;
    for (Value indices : call->getResults().take_front(rank))
      types.push_back(RankedTensorType::get({ShapedType::kDynamic}, getElementTypeOrSelf(indices.getType())));
    auto exact =
        stablehlo::CustomCallOp::create(b, call.getLoc(), types, call->getOperands(),
                                        b.getNamedAttr("call_target_name", b.getStringAttr("latewood.nonzero")));
    for (stablehlo::RealDynamicSliceOp slice : cuts) {
      slice->getResult(0).replaceAllUsesWith(exact->getResult(cast<OpResult>(slice.getOperand()).getResultNumber()));
      slice.erase();
    }
    Value number = stablehlo::GetDimensionSizeOp::create(b, exact->getResult(0), 0);
    if (number.getType() != count.getType())
      number = stablehlo::ConvertOp::create(b, count.getType(), number);
    count.replaceAllUsesWith(number);
    // Their extents, which the cuts asked for, are those of the operand.
    for (Value indices : call->getResults().take_front(rank))
      for (Operation *user : llvm::make_early_inc_range(indices.getUsers()))
        if (user->use_empty())
          user->erase();
        else
          return inlineDecomposition(b, call);
    call.erase();
    return success();
  }

  static bool isCutTo(stablehlo::RealDynamicSliceOp slice, Value count) {
    auto clamp = slice.getLimitIndices().getDefiningOp<stablehlo::ClampOp>();
    Value limit = clamp ? clamp.getOperand() : Value();
    while (limit && limit != count &&
           isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::ConvertOp>(limit.getDefiningOp()))
      limit = limit.getDefiningOp()->getOperand(0);
    return limit == count;
  }

  LogicalResult inlineDecomposition(Builder &b, stablehlo::CustomCallOp call) {
    ArrayAttr computations = call.getCalledComputations();
    auto function = computations && computations.size() == 1
                        ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, cast<SymbolRefAttr>(computations[0]))
                        : func::FuncOp();
    if (!function || function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return call.emitError() << "'" << call.getCallTargetName()
                              << "' gives padded results, and has no decomposition that says how";
    IRMapping mapping;
    Block &block = function.getBody().front();
    mapping.map(block.getArguments(), call->getOperands());
    for (Operation &op : block.without_terminator())
      b.clone(op, mapping);
    for (auto [result, value] : llvm::zip_equal(call->getResults(), block.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    return success();
  }
};

} // namespace
