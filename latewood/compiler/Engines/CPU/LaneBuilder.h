// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the scalar body of an operation into code for several lanes at once.
//
// A value of the body is *uniform* (the same in all lanes: it stays a scalar), an *iota* (a scalar plus the number of
// the lane) or a vector. Each operation is written in the cheapest form that its operands allow, and widened only where
// a vector is needed: a bias that does not depend on the vector loop is loaded and converted once, `linalg.index` costs
// nothing until somebody compares it with a vector, and a gather whose last index is an iota is a contiguous load. With
// one lane everything is uniform, and the same code writes scalar loops.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_LANEBUILDER_H
#define LATEWOOD_COMPILER_ENGINES_CPU_LANEBUILDER_H

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include <optional>

namespace latewood::cpu {

/// An index `value + constant`; arithmetic on it folds.
struct Index {
  mlir::Value value; // null: 0
  int64_t constant = 0;

  Index() = default;
  Index(int64_t constant) : constant(constant) {}
  Index(mlir::Value value) : value(value) {}
  bool isConstant() const { return !value; }
};

struct Lanes {
  enum class Kind { Uniform, Iota, Vector } kind = Kind::Uniform;
  mlir::Value value;

  bool isUniform() const { return kind == Kind::Uniform; }
};

class LaneBuilder {
public:
  LaneBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t width = 1;
  /// Lanes that exist; null: all of them. Loads give 0 in the others.
  mlir::Value mask;

  // Indices.
  Index add(Index lhs, Index rhs);
  Index mul(Index index, const SymbolicSize &factor);
  Index index(const SymbolicSize &size);
  /// The largest multiple of `unit`, a power of two, that is not above `index`.
  Index multiple(Index index, int64_t unit);
  mlir::Value materialize(Index index);

  // Values.
  mlir::VectorType vectorOf(mlir::Type type) const;
  static Lanes uniform(mlir::Value value) { return {Lanes::Kind::Uniform, value}; }
  Lanes vector(mlir::Value value) const { return {width == 1 ? Lanes::Kind::Uniform : Lanes::Kind::Vector, value}; }
  /// `index` in lane 0, `index + stride` in lane 1, …
  Lanes linear(Index index, const SymbolicSize &stride);
  /// The value as a vector (with one lane: as a scalar).
  mlir::Value widen(Lanes lanes);
  /// The operation on lanes. `operands` are in order.
  llvm::SmallVector<Lanes> apply(mlir::Operation *op, llvm::ArrayRef<Lanes> operands);
  mlir::Value constant(mlir::Attribute value);

  // Memory. `flat` is a rank-1 buffer, `address` the element of lane 0; lane i lies `stride` elements on.
  Lanes load(mlir::Value flat, Index address, const SymbolicSize &stride);
  Lanes gather(mlir::Value flat, Lanes address);
  void store(Lanes value, mlir::Value flat, Index address, const SymbolicSize &stride);
  void scatter(Lanes value, mlir::Value flat, Lanes address);

private:
  mlir::Value fullMask();
  mlir::Value passThrough(mlir::VectorType type);
  mlir::Value laneOffsets(const SymbolicSize &stride);
};

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_LANEBUILDER_H
