// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that are known when the program runs: extents, strides and offsets of dynamic shapes.
//
// Questions about memory ("is the outer stride the inner stride times the inner extent?") are questions about equality,
// and those have answers without numbers: a size is a polynomial with integer coefficients over SSA values (of type
// index or i64), and two sizes are equal if their polynomials are. A static size is a polynomial without symbols, so
// that code which reasons about sizes is written once.
//
// Questions about magnitude (is this enough work for several threads?) have no such answer. Where a guess is enough,
// `typical` gives one; where it is not, the size is materialized and the program asks.
//
//   SymbolicSize n(value), row = 64 * n;
//   row == 64 * n          true
//   row.isConstant()       false
//   row == 64              false
//   row.typical()          64 * 512
//
// Terms are kept in the order in which they came: what is emitted depends on the program, not on addresses of values.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSIZE_H
#define LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSIZE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace latewood::cpu {

class SymbolicSize {
public:
  /// What `typical` takes a symbol for.
  static constexpr int64_t typicalSymbol = 512;

  SymbolicSize() = default;
  SymbolicSize(int64_t constant) : constant(constant) {}
  /// The value itself is the symbol; latewood::cpu::getSymbolicSize looks into arithmetic.
  static SymbolicSize ofSymbol(mlir::Value value);

  bool isConstant() const { return terms.empty(); }
  /// Of a constant size.
  int64_t getConstant() const;
  /// The part that no symbol multiplies.
  int64_t getConstantPart() const { return constant; }
  size_t getNumTerms() const { return terms.size(); }
  /// True if it is for all values of the symbols, because all coefficients are.
  bool isMultipleOf(int64_t divisor) const;
  /// The values that it depends on; some more than once.
  llvm::SmallVector<mlir::Value> getSymbols() const;
  /// The size for symbols of a typical value; of a constant size, the constant. Never 0 for a size with symbols.
  int64_t typical() const;

  bool operator==(const SymbolicSize &other) const;
  bool operator!=(const SymbolicSize &other) const { return !(*this == other); }
  SymbolicSize operator+(const SymbolicSize &other) const;
  SymbolicSize operator-(const SymbolicSize &other) const { return *this + other * -1; }
  SymbolicSize operator*(const SymbolicSize &other) const;
  SymbolicSize &operator+=(const SymbolicSize &other) { return *this = *this + other; }
  SymbolicSize &operator*=(const SymbolicSize &other) { return *this = *this * other; }

  /// The size as a value of type index. All symbols must dominate the builder's position.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The same, an attribute where it is a constant.
  mlir::OpFoldResult materializeFold(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  struct Term {
    llvm::SmallVector<mlir::Value, 2> factors; // at least one; with repetition
    int64_t coefficient;                       // not 0
  };
  void addTerm(const Term &term);

  llvm::SmallVector<Term, 1> terms; // of different factors
  int64_t constant = 0;
};

inline SymbolicSize operator*(int64_t factor, const SymbolicSize &size) { return size * factor; }

/// The product of all.
SymbolicSize product(llvm::ArrayRef<SymbolicSize> sizes);
bool allConstant(llvm::ArrayRef<SymbolicSize> sizes);
/// For types: dynamic where a size has symbols.
llvm::SmallVector<int64_t> toStaticShape(llvm::ArrayRef<SymbolicSize> sizes);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSIZE_H
