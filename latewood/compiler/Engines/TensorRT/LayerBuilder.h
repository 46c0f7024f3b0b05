// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes layers of the `tensorrt` dialect: one call a layer, with result types found by the layer's own inference.
//
// Where a layer refuses its operands, inference has reported why, and the call gives a null value. Every call takes
// null values and gives null for them: a conversion writes what it wants and looks once, at the end. Operands of
// different rank are made equal by unit dimensions in front, as scalars need.
#pragma once

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace latewood::tensorrt {

using mlir::Value;
using Results = mlir::FailureOr<llvm::SmallVector<Value>>;

class LayerBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// Why the last conversion failed, where it was not a layer that refused.
  std::string reason;
  Results fail(const llvm::Twine &why) {
    reason = why.str();
    return mlir::failure();
  }

  /// What a value of the converted program is now.
  mlir::IRMapping values;
  Value map(Value value) { return values.lookupOrDefault(value); }

  static mlir::RankedTensorType typeOf(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
  static llvm::ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }
  static int64_t rankOf(Value value) { return typeOf(value).getRank(); }
  static mlir::Type elementOf(Value value) { return typeOf(value).getElementType(); }

  /// A layer with inferred result types. `arguments` are those of the op's builder that takes result types first.
  template <typename OpT, typename... Args>
  OpT layer(unsigned results, Args &&...arguments) {
    llvm::SmallVector<mlir::Type> types(results, mlir::RankedTensorType::get({}, getF32Type()));
    auto op = OpT::create(*this, mlir::TypeRange(types), std::forward<Args>(arguments)...);
    types.clear();
    if (failed(OpT::inferReturnTypes(getContext(), op.getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
                                     op->getPropertiesStorage(), op->getRegions(), types))) {
      op->erase();
      return OpT();
    }
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
    return op;
  }

  // Constants.
  Value constant(mlir::ElementsAttr elements);
  Value ints(llvm::ArrayRef<int64_t> elements); // a vector of i64
  Value splat(mlir::RankedTensorType type, double value);
  Value like(Value value, double number); // of extents 1, so that it broadcasts against `value`

  // Elementwise.
  Value unary(UnaryOperation operation, Value input);
  Value activation(ActivationType type, Value input);
  Value binary(ElementWiseOperation operation, Value lhs, Value rhs);
  Value add(Value lhs, Value rhs) { return binary(ElementWiseOperation::kSUM, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary(ElementWiseOperation::kSUB, lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary(ElementWiseOperation::kPROD, lhs, rhs); }
  Value min(Value lhs, Value rhs) { return binary(ElementWiseOperation::kMIN, lhs, rhs); }
  Value max(Value lhs, Value rhs) { return binary(ElementWiseOperation::kMAX, lhs, rhs); }
  Value logicalNot(Value input) { return unary(UnaryOperation::kNOT, input); }
  Value select(Value condition, Value thenInput, Value elseInput);
  Value cast(Value input, mlir::Type element);

  // Shapes. Extents may be unknown unless said otherwise.
  Value reshape(Value input, llvm::ArrayRef<int64_t> shape); // at most one extent unknown
  Value transpose(Value input, llvm::ArrayRef<int64_t> permutation);
  Value squeeze(Value input, llvm::ArrayRef<int64_t> axes);
  Value unsqueeze(Value input, llvm::ArrayRef<int64_t> axes);
  Value toRank(Value input, int64_t rank); // unit dimensions in front
  Value broadcast(Value input, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims, Value shape = {});
  Value concatenate(mlir::ValueRange inputs, int64_t axis);
  Value slice(Value input, llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> stride);
  /// As above where start, size and stride are vectors of i64; `size` null: `sizes`.
  Value slice(Value input, Value start, Value size, Value stride, llvm::ArrayRef<int64_t> sizes = {}, Value fill = {});
  Value pad(Value input, Value fill, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high); // static extents
  Value shape(Value input);                                                                      // a vector of i64
  Value extent(Value input, int64_t dimension);                                                  // a vector of one i64
  /// The extents as a vector: constant if all are known.
  Value extents(Value input);
  /// 0, 1, 2... along dimension `axis` of a tensor of extents 1 otherwise.
  Value iota(int64_t rank, int64_t axis, int64_t extent, mlir::Type element);
  /// A scalar or vector of integers as a vector of i64.
  Value toVector(Value scalar);
};

/// Permutation that undoes `permutation`.
llvm::SmallVector<int64_t> invert(llvm::ArrayRef<int64_t> permutation);
/// True if the permutation is 0, 1, 2...
bool isIdentity(llvm::ArrayRef<int64_t> permutation);

} // namespace latewood::tensorrt
