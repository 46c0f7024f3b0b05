// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lua text for numbers, names and scalar operations. Lua has one integer type, of 64 bits: what is narrower is kept
// sign-extended, so that comparisons and extensions cost nothing, and every operation that can leave the width brings
// its result back.

#include "latewood/compiler/Translate/LuaExpressions.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
namespace lua = latewood::translate::lua;

static constexpr StringLiteral signBit = "0x8000000000000000";

std::string lua::quote(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 32 || c == 127)
      result += "\\" + std::string(3 - std::to_string(c).size(), '0') + std::to_string(c);
    else
      result += c;
  }
  return result + "\"";
}

bool lua::isIdentifier(StringRef name) {
  static const llvm::StringSet<> keywords = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                             "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                             "repeat",   "return", "then", "true", "until",  "while"};
  if (name.empty() || llvm::isDigit(name.front()) || keywords.contains(name))
    return false;
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string lua::literal(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min())
    return signBit.str();
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

// `expression`, whose low bits are right, as a sign-extended number of this type.
static std::string wrap(const Twine &expression, Type type) {
  unsigned width = executor::getScalarWidth(type);
  if (width == 64)
    return expression.str();
  std::string half = "0x" + llvm::utohexstr(uint64_t(1) << (width - 1)),
              mask = "0x" + llvm::utohexstr((uint64_t(1) << width) - 1);
  return ("((" + expression + ") + " + half + " & " + mask + ") - " + half).str();
}

// The number without its sign.
static std::string unsignedForm(const std::string &value, Type type) {
  unsigned width = executor::getScalarWidth(type);
  return width == 64 ? value : "(" + value + " & 0x" + llvm::utohexstr((uint64_t(1) << width) - 1) + ")";
}

std::string lua::scalarExpression(Operation *op, llvm::function_ref<std::string(Value)> nameOf) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex() || op->getNumOperands() == 0)
    return "";
  Type type = op->getResult(0).getType();
  bool isBoolean = type.isInteger(1);
  auto operand = [&](unsigned index) { return nameOf(op->getOperand(index)); };
  auto infix = [&](StringRef sign) { return operand(0) + " " + sign.str() + " " + operand(1); };
  auto call = [&](StringRef function, bool isUnsigned) {
    std::string lhs = isUnsigned ? unsignedForm(operand(0), type) : operand(0);
    std::string rhs = isUnsigned ? unsignedForm(operand(1), type) : operand(1);
    return wrap("int." + function + "(" + lhs + ", " + rhs + ")", type);
  };
  auto shift = [&](StringRef function, bool isUnsigned) {
    std::string lhs = isUnsigned ? unsignedForm(operand(0), type) : operand(0);
    return wrap("int." + function + "(" + lhs + ", " + unsignedForm(operand(1), type) + ")", type);
  };
  auto compare = [&](StringRef sign, bool isUnsigned) {
    if (!isUnsigned)
      return "(" + infix(sign) + ")";
    return "((" + operand(0) + " ~ " + signBit.str() + ") " + sign.str() + " (" + operand(1) + " ~ " + signBit.str() +
           "))";
  };
  auto choose = [&](StringRef sign, bool isUnsigned) {
    return compare(sign, isUnsigned) + " and " + operand(0) + " or " + operand(1);
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](executor::AddOp) { return wrap(infix("+"), type); })
      .Case([&](executor::SubOp) { return wrap(infix("-"), type); })
      .Case([&](executor::MulOp) { return wrap(infix("*"), type); })
      .Case([&](executor::DivSOp) { return call("div_s", false); })
      .Case([&](executor::RemSOp) { return call("rem_s", false); })
      .Case([&](executor::DivUOp) { return call("div_u", true); })
      .Case([&](executor::RemUOp) { return call("rem_u", true); })
      .Case([&](executor::ShlOp) { return shift("shl", false); })
      .Case([&](executor::ShrSOp) { return shift("shr_s", false); })
      .Case([&](executor::ShrUOp) { return shift("shr_u", true); })
      .Case([&](executor::MinSOp) { return choose("<", false); })
      .Case([&](executor::MaxSOp) { return choose(">", false); })
      .Case([&](executor::MinUOp) { return choose("<", true); })
      .Case([&](executor::MaxUOp) { return choose(">", true); })
      .Case([&](executor::AndOp) { return infix(isBoolean ? "and" : "&"); })
      .Case([&](executor::OrOp) { return infix(isBoolean ? "or" : "|"); })
      .Case([&](executor::XorOp) { return infix(isBoolean ? "~=" : "~"); })
      .Case([&](executor::NotOp) { return (isBoolean ? "not " : "~") + operand(0); })
      .Case([&](executor::SelectOp) {
        if (isBoolean)
          return operand(0) + " and " + operand(1) + " or not " + operand(0) + " and " + operand(2);
        return operand(0) + " and " + operand(1) + " or " + operand(2);
      })
      .Case([&](executor::CmpOp cmp) {
        using executor::Predicate;
        switch (cmp.getPredicate()) {
        case Predicate::EQ:
          return infix("==");
        case Predicate::NE:
          return infix("~=");
        case Predicate::LTS:
        case Predicate::LTU:
          return compare("<", cmp.getPredicate() == Predicate::LTU);
        case Predicate::LES:
        case Predicate::LEU:
          return compare("<=", cmp.getPredicate() == Predicate::LEU);
        case Predicate::GTS:
        case Predicate::GTU:
          return compare(">", cmp.getPredicate() == Predicate::GTU);
        case Predicate::GES:
        case Predicate::GEU:
          return compare(">=", cmp.getPredicate() == Predicate::GEU);
        }
        llvm_unreachable("no such predicate");
      })
      .Case<executor::CastSOp, executor::CastUOp>([&](auto cast) {
        Type from = op->getOperand(0).getType();
        bool isSigned = std::is_same_v<decltype(cast), executor::CastSOp>;
        if (isBoolean)
          return from.isInteger(1) ? operand(0) : "(" + operand(0) + " & 1) == 1";
        if (from.isInteger(1))
          return operand(0) + (isSigned ? " and (-1) or 0" : " and 1 or 0");
        if (executor::getScalarWidth(from) < executor::getScalarWidth(type))
          return isSigned ? operand(0) : unsignedForm(operand(0), from);
        return wrap(operand(0), type);
      })
      .Default(std::string());
}
