// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic sizes: equality of polynomials, the constant case, and what is asked for magnitudes.

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

namespace {

using latewood::cpu::SymbolicSize;
using mlir::Value;

class SymbolicSizeTest : public testing::Test {
protected:
  SymbolicSizeTest() : builder(&context), location(builder.getUnknownLoc()) {
    context.loadDialect<mlir::arith::ArithDialect>();
    block = std::make_unique<mlir::Block>();
    for (int i = 0; i < 3; ++i)
      block->addArgument(builder.getIndexType(), location);
    builder.setInsertionPointToEnd(block.get());
  }

  SymbolicSize symbol(unsigned number) { return SymbolicSize::ofSymbol(block->getArgument(number)); }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::Location location;
  std::unique_ptr<mlir::Block> block;
};

TEST_F(SymbolicSizeTest, ConstantsAreSizes) {
  SymbolicSize size(6);
  EXPECT_TRUE(size.isConstant());
  EXPECT_EQ((size * 7).getConstant(), 42);
  EXPECT_EQ((size - 6), 0);
  EXPECT_EQ(size.typical(), 6);
  EXPECT_TRUE(size.isMultipleOf(3));
  EXPECT_EQ(SymbolicSize(), 0);
}

TEST_F(SymbolicSizeTest, EqualityDoesNotDependOnTheWay) {
  SymbolicSize n = symbol(0), m = symbol(1);
  EXPECT_EQ((n + 1) * (m + 2), n * m + 2 * n + m + 2);
  EXPECT_EQ(n * m * 4, 4 * (m * n));
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_NE(n * m, n * n);
  EXPECT_NE(n, 1);
  EXPECT_NE(n, m);
}

TEST_F(SymbolicSizeTest, TermsCancel) {
  SymbolicSize n = symbol(0), m = symbol(1);
  SymbolicSize zero = n * m + 3 - m * n - 3;
  EXPECT_TRUE(zero.isConstant());
  EXPECT_EQ(zero, 0);
  EXPECT_TRUE((n * 0).isConstant());
}

TEST_F(SymbolicSizeTest, MagnitudesAreGuessed) {
  SymbolicSize n = symbol(0);
  EXPECT_EQ(n.typical(), SymbolicSize::typicalSymbol);
  EXPECT_EQ((n * n * 2).typical(), 2 * SymbolicSize::typicalSymbol * SymbolicSize::typicalSymbol);
  EXPECT_NE((n - SymbolicSize::typicalSymbol).typical(), 0);
  EXPECT_GT((n * n * n * n * n * n * n * n).typical(), 0);
  EXPECT_TRUE((n * 64 + 8).isMultipleOf(8));
  EXPECT_FALSE((n * 64 + 4).isMultipleOf(8));
  EXPECT_FALSE((n * 12).isMultipleOf(8));
}

TEST_F(SymbolicSizeTest, ValuesAreMadeOfSymbols) {
  SymbolicSize n = symbol(0), m = symbol(1);
  Value value = (n * m * 3 + 5).materialize(builder, location);
  auto sum = value.getDefiningOp<mlir::arith::AddIOp>();
  ASSERT_TRUE(sum);
  EXPECT_TRUE(sum.getLhs().getDefiningOp<mlir::arith::MulIOp>());
  EXPECT_EQ(n.materialize(builder, location), block->getArgument(0));
  EXPECT_TRUE(llvm::isa<mlir::Attribute>(SymbolicSize(4).materializeFold(builder, location)));
  EXPECT_TRUE(llvm::isa<Value>(n.materializeFold(builder, location)));
}

TEST_F(SymbolicSizeTest, ShapesAreStaticWhereSizesAre) {
  SymbolicSize n = symbol(0);
  EXPECT_EQ(latewood::cpu::toStaticShape({n, 4}), (llvm::SmallVector<int64_t>{mlir::ShapedType::kDynamic, 4}));
  EXPECT_EQ(latewood::cpu::product({n, 4, n}), 4 * n * n);
  EXPECT_FALSE(latewood::cpu::allConstant({n, 4}));
  EXPECT_TRUE(latewood::cpu::allConstant({2, 4}));
}

} // namespace
