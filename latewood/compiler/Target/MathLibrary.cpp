// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table. A row here is a promise that Engines/CPU/Library defines the function for f32 and f64 in all lane counts;
// the unit test of the library holds the two together.

#include "latewood/compiler/Target/MathLibrary.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace latewood::target {

static constexpr MathFunction kFunctions[] = {
    {"acos", 1, "math.acos"},  {"acosh", 1, "math.acosh"}, {"asin", 1, "math.asin"},   {"asinh", 1, "math.asinh"},
    {"atan", 1, "math.atan"},  {"atan2", 2, "math.atan2"}, {"atanh", 1, "math.atanh"}, {"cbrt", 1, "math.cbrt"},
    {"cos", 1, "math.cos"},    {"cosh", 1, "math.cosh"},   {"erf", 1, "math.erf"},     {"erf_inv", 1, ""},
    {"erfc", 1, "math.erfc"},  {"exp", 1, "math.exp"},     {"exp2", 1, "math.exp2"},   {"expm1", 1, "math.expm1"},
    {"fmod", 2, "arith.remf"}, {"log", 1, "math.log"},     {"log10", 1, "math.log10"}, {"log1p", 1, "math.log1p"},
    {"log2", 1, "math.log2"},  {"logistic", 1, ""},        {"pow", 2, "math.powf"},    {"rsqrt", 1, "math.rsqrt"},
    {"sin", 1, "math.sin"},    {"sinh", 1, "math.sinh"},   {"tan", 1, "math.tan"},     {"tanh", 1, "math.tanh"},
};

ArrayRef<MathFunction> getMathFunctions() { return kFunctions; }

const MathFunction *findMathFunction(StringRef name) {
  for (const MathFunction &function : kFunctions)
    if (function.name == name)
      return &function;
  return nullptr;
}

ArrayRef<unsigned> getMathLanes(Level level, unsigned elementBits) {
  static constexpr unsigned f32V4[] = {16, 8, 4, 1}, f64V4[] = {8, 4, 2, 1};
  ArrayRef<unsigned> lanes = elementBits == 64 ? ArrayRef<unsigned>(f64V4) : ArrayRef<unsigned>(f32V4);
  // A vector of two registers is passed in memory by the C calling convention: level 3 has no such form.
  return level == Level::V4 ? lanes : lanes.drop_front();
}

std::string getMathSymbol(const MathFunction &function, unsigned elementBits, unsigned lanes) {
  std::string symbol = ("lw_" + function.name + "_f" + Twine(elementBits)).str();
  if (lanes > 1)
    symbol += "x" + utostr(lanes);
  return symbol;
}

} // namespace latewood::target
