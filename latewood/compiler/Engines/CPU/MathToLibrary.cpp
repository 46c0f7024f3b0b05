// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One emitter for all functions, and one pattern per operation that calls it. A vector is flattened, cut into the lane
// counts that the library has, largest first, and put together again; a rest that has no form of its own is padded with
// its own last element, so that no lane computes on garbage.

#include "latewood/compiler/Engines/CPU/MathToLibrary.h"
#include "latewood/compiler/Target/MathLibrary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace latewood::cpu {

namespace {

/// Emits calls of one library function on operands of one type.
class LibraryCallEmitter {
public:
  LibraryCallEmitter(OpBuilder &builder, Location loc, const target::MathFunction &function,
                     const target::Target &target)
      : builder(builder), loc(loc), function(function), target(target) {}

  /// `operands` are of one type: a float, or a fixed-size vector of floats. Null when the element type has no form.
  Value emit(ValueRange operands) {
    Type type = operands.front().getType();
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (!element)
      return {};
    if (element.isF16() || element.isBF16()) {
      Type wide = withElement(type, builder.getF32Type());
      SmallVector<Value> extended;
      for (Value operand : operands)
        extended.push_back(arith::ExtFOp::create(builder, loc, wide, operand));
      return arith::TruncFOp::create(builder, loc, type, emit(extended));
    }
    if (!element.isF32() && !element.isF64())
      return {};
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      return isa<FloatType>(type) ? call(operands, 1) : Value();
    if (vector.isScalable())
      return {};
    if (vector.getRank() == 0) {
      SmallVector<Value> scalars;
      for (Value operand : operands)
        scalars.push_back(vector::ExtractOp::create(builder, loc, operand, ArrayRef<int64_t>{}));
      return vector::BroadcastOp::create(builder, loc, type, call(scalars, 1));
    }
    if (vector.getRank() == 1)
      return emitFlat(operands, vector);
    auto flatType = VectorType::get({vector.getNumElements()}, element);
    SmallVector<Value> flat;
    for (Value operand : operands)
      flat.push_back(vector::ShapeCastOp::create(builder, loc, flatType, operand));
    return vector::ShapeCastOp::create(builder, loc, type, emitFlat(flat, flatType));
  }

private:
  static Type withElement(Type type, Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }

  Value emitFlat(ValueRange operands, VectorType type) {
    int64_t size = type.getNumElements();
    ArrayRef<unsigned> forms = target::getMathLanes(target.getLevel(), type.getElementTypeBitWidth());
    if (llvm::is_contained(forms, size) && size != 1)
      return call(operands, size);
    Value result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    for (int64_t offset = 0; offset < size;) {
      int64_t rest = size - offset;
      if (rest == 1) {
        SmallVector<Value> scalars;
        for (Value operand : operands)
          scalars.push_back(vector::ExtractOp::create(builder, loc, operand, offset));
        return vector::InsertOp::create(builder, loc, call(scalars, 1), result, offset);
      }
      // The largest form that fits or, when the rest is smaller than all of them, the smallest.
      int64_t lanes = 0;
      for (unsigned form : forms)
        if (form != 1 && (lanes == 0 || lanes > rest))
          lanes = form;
      int64_t used = std::min(lanes, rest);
      SmallVector<int64_t> indices, back;
      for (int64_t i = 0; i < lanes; ++i)
        indices.push_back(offset + std::min(i, used - 1));
      for (int64_t i = 0; i < used; ++i)
        back.push_back(i);
      SmallVector<Value> pieces;
      for (Value operand : operands)
        pieces.push_back(vector::ShuffleOp::create(builder, loc, operand, operand, indices));
      Value piece = call(pieces, lanes);
      if (used != lanes)
        piece = vector::ShuffleOp::create(builder, loc, piece, piece, back);
      result = vector::InsertStridedSliceOp::create(builder, loc, piece, result, ArrayRef<int64_t>{offset},
                                                    ArrayRef<int64_t>{1});
      offset += used;
    }
    return result;
  }

  Value call(ValueRange operands, int64_t lanes) {
    Type type = operands.front().getType();
    std::string symbol = target::getMathSymbol(function, getElementTypeOrSelf(type).getIntOrFloatBitWidth(), lanes);
    SmallVector<Type> types(operands.size(), type);
    declare(symbol, builder.getFunctionType(types, type));
    return func::CallOp::create(builder, loc, symbol, TypeRange{type}, operands).getResult(0);
  }

  void declare(StringRef symbol, FunctionType type) {
    Operation *table = SymbolTable::getNearestSymbolTable(builder.getInsertionBlock()->getParentOp());
    if (SymbolTable::lookupSymbolIn(table, symbol))
      return;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&table->getRegion(0).front());
    func::FuncOp::create(builder, loc, symbol, type).setPrivate();
  }

  OpBuilder &builder;
  Location loc;
  const target::MathFunction &function;
  const target::Target &target;
};

/// Replaces one operation of the table.
class OperationToCall : public RewritePattern {
public:
  OperationToCall(MLIRContext *context, const target::MathFunction &function, const target::Target &target)
      : RewritePattern(function.op, /*benefit=*/1, context), function(function), target(target) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Value result = LibraryCallEmitter(rewriter, op->getLoc(), function, target).emit(op->getOperands());
    if (!result)
      return rewriter.notifyMatchFailure(op, "the device library has no form for this type");
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  const target::MathFunction &function;
  target::Target target;
};

/// math.sincos is two functions here.
class SplitSinCos : public OpRewritePattern<math::SincosOp> {
public:
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SincosOp op, PatternRewriter &rewriter) const override {
    Value sin = math::SinOp::create(rewriter, op.getLoc(), op.getOperand());
    Value cos = math::CosOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, {sin, cos});
    return success();
  }
};

} // namespace

void populateMathToLibraryPatterns(RewritePatternSet &patterns, const target::Target &target) {
  for (const target::MathFunction &function : target::getMathFunctions())
    if (!function.op.empty())
      patterns.add<OperationToCall>(patterns.getContext(), function, target);
  patterns.add<SplitSinCos>(patterns.getContext());
}

Value emitLibraryCall(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                      const target::Target &target) {
  const target::MathFunction *function = target::findMathFunction(name);
  if (!function || operands.size() != function->arity)
    return {};
  return LibraryCallEmitter(builder, loc, *function, target).emit(operands);
}

} // namespace latewood::cpu
