// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on symbolic sizes (see SymbolicSize.h). Coefficients wrap like the program's own index arithmetic.

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;

namespace latewood::cpu {

static int64_t wrappingAdd(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t wrappingMul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

/// The same factors in any order.
static bool sameFactors(ArrayRef<Value> a, ArrayRef<Value> b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

SymbolicSize SymbolicSize::ofSymbol(Value value) {
  SymbolicSize size;
  size.terms.push_back({{value}, 1});
  return size;
}

int64_t SymbolicSize::getConstant() const {
  assert(isConstant() && "a size with symbols has no value at compile time");
  return constant;
}

bool SymbolicSize::isMultipleOf(int64_t divisor) const {
  return constant % divisor == 0 &&
         llvm::all_of(terms, [&](const Term &term) { return term.coefficient % divisor == 0; });
}

SmallVector<Value> SymbolicSize::getSymbols() const {
  SmallVector<Value> symbols;
  for (const Term &term : terms)
    llvm::append_range(symbols, term.factors);
  return symbols;
}

int64_t SymbolicSize::typical() const {
  if (isConstant())
    return constant;
  double sum = constant;
  for (const Term &term : terms)
    sum += term.coefficient * std::pow(double(typicalSymbol), double(term.factors.size()));
  constexpr double limit = double(int64_t(1) << 60);
  auto result = int64_t(std::clamp(sum, -limit, limit));
  return result == 0 ? 1 : result;
}

void SymbolicSize::addTerm(const Term &term) {
  for (auto it = terms.begin(); it != terms.end(); ++it)
    if (sameFactors(it->factors, term.factors)) {
      it->coefficient = wrappingAdd(it->coefficient, term.coefficient);
      if (it->coefficient == 0)
        terms.erase(it);
      return;
    }
  if (term.coefficient != 0)
    terms.push_back(term);
}

bool SymbolicSize::operator==(const SymbolicSize &other) const {
  if (constant != other.constant || terms.size() != other.terms.size())
    return false;
  return llvm::all_of(terms, [&](const Term &term) {
    return llvm::any_of(other.terms, [&](const Term &candidate) {
      return term.coefficient == candidate.coefficient && sameFactors(term.factors, candidate.factors);
    });
  });
}

SymbolicSize SymbolicSize::operator+(const SymbolicSize &other) const {
  SymbolicSize sum = *this;
  sum.constant = wrappingAdd(sum.constant, other.constant);
  for (const Term &term : other.terms)
    sum.addTerm(term);
  return sum;
}

SymbolicSize SymbolicSize::operator*(const SymbolicSize &other) const {
  SymbolicSize result(wrappingMul(constant, other.constant));
  for (const Term &term : terms)
    result.addTerm({term.factors, wrappingMul(term.coefficient, other.constant)});
  for (const Term &theirs : other.terms) {
    result.addTerm({theirs.factors, wrappingMul(constant, theirs.coefficient)});
    for (const Term &ours : terms) {
      Term both = ours;
      both.coefficient = wrappingMul(ours.coefficient, theirs.coefficient);
      llvm::append_range(both.factors, theirs.factors);
      result.addTerm(both);
    }
  }
  return result;
}

Value SymbolicSize::materialize(OpBuilder &builder, Location loc) const {
  Value sum;
  for (const Term &term : terms) {
    Value monomial;
    for (Value factor : term.factors) {
      if (!factor.getType().isIndex())
        factor = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), factor);
      monomial = monomial ? arith::MulIOp::create(builder, loc, monomial, factor).getResult() : factor;
    }
    if (term.coefficient != 1)
      monomial =
          arith::MulIOp::create(builder, loc, monomial, arith::ConstantIndexOp::create(builder, loc, term.coefficient));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, monomial).getResult() : monomial;
  }
  if (sum && constant == 0)
    return sum;
  Value rest = arith::ConstantIndexOp::create(builder, loc, constant);
  return sum ? arith::AddIOp::create(builder, loc, sum, rest).getResult() : rest;
}

OpFoldResult SymbolicSize::materializeFold(OpBuilder &builder, Location loc) const {
  if (isConstant())
    return builder.getIndexAttr(constant);
  return materialize(builder, loc);
}

SymbolicSize product(ArrayRef<SymbolicSize> sizes) {
  SymbolicSize result(1);
  for (const SymbolicSize &size : sizes)
    result *= size;
  return result;
}

bool allConstant(ArrayRef<SymbolicSize> sizes) {
  return llvm::all_of(sizes, [](const SymbolicSize &size) { return size.isConstant(); });
}

SmallVector<int64_t> toStaticShape(ArrayRef<SymbolicSize> sizes) {
  return llvm::map_to_vector(
      sizes, [](const SymbolicSize &size) { return size.isConstant() ? size.getConstant() : ShapedType::kDynamic; });
}

} // namespace latewood::cpu
