// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar operations of the host program in the LLVM dialect. LLVM leaves some operands undefined (division by zero,
// counts of the width or more); here each gets the value that ScalarOps.td defines, by a selection around the
// instruction.

#include "latewood/compiler/Translate/ScalarsToLLVM.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;

namespace {

class ScalarConverter {
public:
  ScalarConverter(OpBuilder &builder, Operation *op, ValueRange operands)
      : builder(builder), loc(op->getLoc()), op(op), operands(operands),
        type(translate::getLLVMScalarType(op->getResult(0).getType())) {}

  Value convert() {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](executor::ScalarOp scalar) {
          return constant(cast<IntegerAttr>(scalar.getValue()).getValue().sextOrTrunc(type.getIntOrFloatBitWidth()));
        })
        .Case([&](executor::AddOp) { return binary<LLVM::AddOp>(); })
        .Case([&](executor::SubOp) { return binary<LLVM::SubOp>(); })
        .Case([&](executor::MulOp) { return binary<LLVM::MulOp>(); })
        .Case([&](executor::AndOp) { return binary<LLVM::AndOp>(); })
        .Case([&](executor::OrOp) { return binary<LLVM::OrOp>(); })
        .Case([&](executor::XorOp) { return binary<LLVM::XOrOp>(); })
        .Case([&](executor::MinSOp) { return binary<LLVM::SMinOp>(); })
        .Case([&](executor::MinUOp) { return binary<LLVM::UMinOp>(); })
        .Case([&](executor::MaxSOp) { return binary<LLVM::SMaxOp>(); })
        .Case([&](executor::MaxUOp) { return binary<LLVM::UMaxOp>(); })
        .Case([&](executor::DivSOp) { return signedDivision<LLVM::SDivOp>(constant(-1)); })
        .Case([&](executor::RemSOp) { return signedDivision<LLVM::SRemOp>(operands[0]); })
        .Case([&](executor::DivUOp) { return division<LLVM::UDivOp>(constant(-1)); })
        .Case([&](executor::RemUOp) { return division<LLVM::URemOp>(operands[0]); })
        .Case([&](executor::ShlOp) { return shift<LLVM::ShlOp>(); })
        .Case([&](executor::ShrUOp) { return shift<LLVM::LShrOp>(); })
        .Case([&](executor::ShrSOp) {
          // Shifting by w - 1 leaves nothing but the sign.
          Value count = LLVM::UMinOp::create(builder, loc, type, operands[1], constant(width() - 1));
          return LLVM::AShrOp::create(builder, loc, operands[0], count).getResult();
        })
        .Case([&](executor::NotOp) { return LLVM::XOrOp::create(builder, loc, operands[0], constant(-1)).getResult(); })
        .Case([&](executor::CmpOp cmp) {
          return LLVM::ICmpOp::create(builder, loc, getPredicate(cmp.getPredicate()), operands[0], operands[1])
              .getResult();
        })
        .Case([&](executor::SelectOp) { return select(operands[0], operands[1], operands[2]); })
        .Case([&](executor::CastSOp) { return resize<LLVM::SExtOp>(); })
        .Case([&](executor::CastUOp) { return resize<LLVM::ZExtOp>(); })
        .Default(Value());
  }

private:
  int64_t width() const { return type.getIntOrFloatBitWidth(); }
  Value constant(const APInt &value) {
    return LLVM::ConstantOp::create(builder, loc, type, IntegerAttr::get(type, value));
  }
  Value constant(int64_t value) { return constant(APInt(width(), value, /*isSigned=*/true, /*implicitTrunc=*/true)); }
  Value equal(Value value, Value other) {
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value, other);
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return LLVM::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }

  template <typename LLVMOp>
  Value binary() {
    return LLVMOp::create(builder, loc, type, operands[0], operands[1]).getResult();
  }

  template <typename LLVMOp>
  Value division(Value byZero) {
    Value isZero = equal(operands[1], constant(int64_t(0)));
    Value result = LLVMOp::create(builder, loc, operands[0], select(isZero, constant(1), operands[1]));
    return select(isZero, byZero, result);
  }

  // Division by 1 instead of -1 gives what is defined for the minimum: itself, remainder 0.
  template <typename LLVMOp>
  Value signedDivision(Value byZero) {
    Value isZero = equal(operands[1], constant(int64_t(0)));
    Value overflows = LLVM::AndOp::create(builder, loc, equal(operands[0], constant(APInt::getSignedMinValue(width()))),
                                          equal(operands[1], constant(-1)));
    Value isUnsafe = LLVM::OrOp::create(builder, loc, isZero, overflows);
    Value result = LLVMOp::create(builder, loc, operands[0], select(isUnsafe, constant(1), operands[1]));
    return select(isZero, byZero, result);
  }

  template <typename LLVMOp>
  Value shift() {
    Value isInside =
        LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, operands[1], constant(APInt(width(), width())));
    Value result = LLVMOp::create(builder, loc, operands[0], select(isInside, operands[1], constant(int64_t(0))));
    return select(isInside, result, constant(int64_t(0)));
  }

  template <typename Extension>
  Value resize() {
    unsigned from = operands[0].getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to)
      return operands[0];
    if (from > to)
      return LLVM::TruncOp::create(builder, loc, type, operands[0]);
    return Extension::create(builder, loc, type, operands[0]).getResult();
  }

  static LLVM::ICmpPredicate getPredicate(executor::Predicate predicate) {
    using executor::Predicate;
    switch (predicate) {
    case Predicate::EQ:
      return LLVM::ICmpPredicate::eq;
    case Predicate::NE:
      return LLVM::ICmpPredicate::ne;
    case Predicate::LTS:
      return LLVM::ICmpPredicate::slt;
    case Predicate::LES:
      return LLVM::ICmpPredicate::sle;
    case Predicate::GTS:
      return LLVM::ICmpPredicate::sgt;
    case Predicate::GES:
      return LLVM::ICmpPredicate::sge;
    case Predicate::LTU:
      return LLVM::ICmpPredicate::ult;
    case Predicate::LEU:
      return LLVM::ICmpPredicate::ule;
    case Predicate::GTU:
      return LLVM::ICmpPredicate::ugt;
    case Predicate::GEU:
      return LLVM::ICmpPredicate::uge;
    }
    llvm_unreachable("no such predicate");
  }

  OpBuilder &builder;
  Location loc;
  Operation *op;
  ValueRange operands;
  Type type;
};

} // namespace

Type translate::getLLVMScalarType(Type type) {
  return isa<IndexType>(type) ? IntegerType::get(type.getContext(), 64) : type;
}

Value translate::convertScalarToLLVM(OpBuilder &builder, Operation *op, ValueRange operands) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return {};
  return ScalarConverter(builder, op, operands).convert();
}
