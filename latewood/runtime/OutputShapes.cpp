// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes without results. A shape function is a function of the executable like any other: it takes what the function
// takes and gives, for each result of dynamic shape that it knows, a vector of extents.

#include "latewood/runtime/Session.h"

#include "latewood/runtime/Exceptions.h"

namespace latewood::runtime {

using Shapes = std::vector<std::vector<int64_t>>;

static Shapes shapesOf(const FunctionSignature &function, std::span<const Ref<Value>> computed) {
  Shapes shapes;
  size_t next = 0;
  for (const ValueSignature &result : function.results) {
    shapes.push_back(result.shape);
    if (result.hasStaticShape() || result.isDataDependent || next == computed.size())
      continue;
    const MemRefValue *extents = asMemRef(computed[next++].get());
    const auto *first = static_cast<const int64_t *>(extents->data());
    shapes.back().assign(first, first + extents->elementCount());
  }
  return shapes;
}

StatusOr<Shapes> Session::outputShapes(std::string_view function, std::span<const Ref<Value>> arguments) {
  LATEWOOD_ASSIGN_OR_RETURN(const FunctionSignature *signature, executable()->getFunction(function));
  if (arguments.size() != signature->arguments.size())
    return invalidArgument("function '" + signature->name + "' expects " + std::to_string(signature->arguments.size()) +
                           " arguments, got " + std::to_string(arguments.size()));
  if (signature->shapeFunctionName.empty())
    return shapesOf(*signature, {});
  LATEWOOD_ASSIGN_OR_RETURN(std::vector<Ref<Value>> computed, execute(signature->shapeFunctionName, arguments));
  return shapesOf(*signature, computed);
}

} // namespace latewood::runtime
