// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic of host functions in the executor dialect, one operation for one.

#include "latewood/compiler/Lower/ScalarsToExecutor.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;

namespace {

class ScalarReplacer {
public:
  ScalarReplacer(RewriterBase &rewriter, Operation *op) : rewriter(rewriter), op(op) {}

  bool replace() {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](arith::ConstantOp constant) {
          if (!constant.getType().isIntOrIndex())
            return false;
          rewriter.replaceOpWithNewOp<executor::ScalarOp>(op, constant.getValue());
          return true;
        })
        .Case([&](arith::AddIOp) { return binary<executor::AddOp>(); })
        .Case([&](arith::SubIOp) { return binary<executor::SubOp>(); })
        .Case([&](arith::MulIOp) { return binary<executor::MulOp>(); })
        .Case([&](arith::DivSIOp) { return binary<executor::DivSOp>(); })
        .Case([&](arith::DivUIOp) { return binary<executor::DivUOp>(); })
        .Case([&](arith::RemSIOp) { return binary<executor::RemSOp>(); })
        .Case([&](arith::RemUIOp) { return binary<executor::RemUOp>(); })
        .Case([&](arith::MinSIOp) { return binary<executor::MinSOp>(); })
        .Case([&](arith::MinUIOp) { return binary<executor::MinUOp>(); })
        .Case([&](arith::MaxSIOp) { return binary<executor::MaxSOp>(); })
        .Case([&](arith::MaxUIOp) { return binary<executor::MaxUOp>(); })
        .Case([&](arith::ShLIOp) { return binary<executor::ShlOp>(); })
        .Case([&](arith::ShRSIOp) { return binary<executor::ShrSOp>(); })
        .Case([&](arith::ShRUIOp) { return binary<executor::ShrUOp>(); })
        .Case([&](arith::AndIOp) { return binary<executor::AndOp>(); })
        .Case([&](arith::OrIOp) { return binary<executor::OrOp>(); })
        .Case([&](arith::XOrIOp) { return binary<executor::XorOp>(); })
        .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return resize<executor::CastSOp>(); })
        .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>([&](auto) { return resize<executor::CastUOp>(); })
        .Case([&](arith::SelectOp select) {
          if (!select.getType().isIntOrIndex() || !select.getCondition().getType().isInteger(1))
            return false;
          rewriter.replaceOpWithNewOp<executor::SelectOp>(op, select.getCondition(), select.getTrueValue(),
                                                          select.getFalseValue());
          return true;
        })
        .Case([&](arith::CmpIOp cmp) { return compare(cmp); })
        .Default(false);
  }

private:
  template <typename ExecutorOp>
  bool binary() {
    if (!op->getResult(0).getType().isIntOrIndex())
      return false;
    rewriter.replaceOpWithNewOp<ExecutorOp>(op, op->getOperand(0), op->getOperand(1));
    return true;
  }

  template <typename ExecutorOp>
  bool resize() {
    if (!op->getResult(0).getType().isIntOrIndex())
      return false;
    rewriter.replaceOpWithNewOp<ExecutorOp>(op, op->getResult(0).getType(), op->getOperand(0));
    return true;
  }

  bool compare(arith::CmpIOp cmp) {
    Type type = cmp.getLhs().getType();
    if (!type.isIntOrIndex())
      return false;
    using arith::CmpIPredicate;
    if (type.isInteger(1)) {
      if (cmp.getPredicate() != CmpIPredicate::eq && cmp.getPredicate() != CmpIPredicate::ne)
        return false;
      Value differs = executor::XorOp::create(rewriter, op->getLoc(), cmp.getLhs(), cmp.getRhs());
      if (cmp.getPredicate() == CmpIPredicate::eq)
        differs = executor::NotOp::create(rewriter, op->getLoc(), differs);
      rewriter.replaceOp(op, differs);
      return true;
    }
    rewriter.replaceOpWithNewOp<executor::CmpOp>(op, getPredicate(cmp.getPredicate()), cmp.getLhs(), cmp.getRhs());
    return true;
  }

  static executor::Predicate getPredicate(arith::CmpIPredicate predicate) {
    using arith::CmpIPredicate;
    using executor::Predicate;
    switch (predicate) {
    case CmpIPredicate::eq:
      return Predicate::EQ;
    case CmpIPredicate::ne:
      return Predicate::NE;
    case CmpIPredicate::slt:
      return Predicate::LTS;
    case CmpIPredicate::sle:
      return Predicate::LES;
    case CmpIPredicate::sgt:
      return Predicate::GTS;
    case CmpIPredicate::sge:
      return Predicate::GES;
    case CmpIPredicate::ult:
      return Predicate::LTU;
    case CmpIPredicate::ule:
      return Predicate::LEU;
    case CmpIPredicate::ugt:
      return Predicate::GTU;
    case CmpIPredicate::uge:
      return Predicate::GEU;
    }
    llvm_unreachable("no such predicate");
  }

  RewriterBase &rewriter;
  Operation *op;
};

} // namespace

bool lower::convertScalarToExecutor(RewriterBase &rewriter, Operation *op) {
  return ScalarReplacer(rewriter, op).replace();
}
