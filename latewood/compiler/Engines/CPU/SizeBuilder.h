// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes that is no polynomial: quotients, minima, choices. Of constants the results are constants;
// otherwise code computes them, and the result is a symbol. So one formula plans static shapes and dynamic ones. Sizes
// are not negative, and a quotient by 0 is one by 1: code may compute what it does not need.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_SIZEBUILDER_H
#define LATEWOOD_COMPILER_ENGINES_CPU_SIZEBUILDER_H

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace latewood::cpu {

class SizeBuilder {
public:
  SizeBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  SymbolicSize floorDiv(const SymbolicSize &size, const SymbolicSize &by) {
    if (by == 1)
      return size;
    if (size.isConstant() && by.isConstant())
      return size.getConstant() / std::max<int64_t>(by.getConstant(), 1);
    mlir::Value divisor =
        (by.isConstant() ? SymbolicSize(std::max<int64_t>(by.getConstant(), 1)) : maximum(by, 1)).materialize(b, loc);
    return symbol(mlir::arith::DivUIOp::create(b, loc, size.materialize(b, loc), divisor));
  }

  SymbolicSize ceilDiv(const SymbolicSize &size, const SymbolicSize &by) {
    if (by.isConstant())
      return floorDiv(size + (std::max<int64_t>(by.getConstant(), 1) - 1), by);
    SymbolicSize divisor = maximum(by, 1);
    return floorDiv(size + divisor - 1, divisor);
  }

  SymbolicSize minimum(const SymbolicSize &x, const SymbolicSize &y) {
    if (x == y)
      return x;
    if (x.isConstant() && y.isConstant())
      return std::min(x.getConstant(), y.getConstant());
    return symbol(mlir::arith::MinSIOp::create(b, loc, x.materialize(b, loc), y.materialize(b, loc)));
  }

  SymbolicSize maximum(const SymbolicSize &x, const SymbolicSize &y) {
    if (x == y)
      return x;
    if (x.isConstant() && y.isConstant())
      return std::max(x.getConstant(), y.getConstant());
    return symbol(mlir::arith::MaxSIOp::create(b, loc, x.materialize(b, loc), y.materialize(b, loc)));
  }

  SymbolicSize clamp(const SymbolicSize &size, int64_t least, int64_t most) {
    return minimum(maximum(size, least), most);
  }

  /// `yes` where x < y, else `no`.
  SymbolicSize ifLess(const SymbolicSize &x, const SymbolicSize &y, const SymbolicSize &yes, const SymbolicSize &no) {
    if (x == y)
      return no;
    if (x.isConstant() && y.isConstant())
      return x.getConstant() < y.getConstant() ? yes : no;
    mlir::Value isLess = mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, x.materialize(b, loc),
                                                     y.materialize(b, loc));
    return symbol(
        mlir::arith::SelectOp::create(b, loc, isLess, yes.materialize(b, loc), no.materialize(b, loc)).getResult());
  }

private:
  static SymbolicSize symbol(mlir::Value value) { return SymbolicSize::ofSymbol(value); }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_SIZEBUILDER_H
