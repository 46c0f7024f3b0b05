// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of operations: a node for each operation of a block, an edge for each value that goes from one to another.
// What is nested in a node is counted by operation. Constants and other operations that compute nothing of their own
// are nodes of a kind, which the page can leave out.

#include "latewood/compiler/Driver/ReportGraph.h"
#include "latewood/compiler/Driver/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace latewood::driver {

namespace {

// What a graph draws of an operation, by what it is for.
StringRef kindOf(Operation *op) {
  if (op->hasTrait<OpTrait::ReturnLike>() || op->hasTrait<OpTrait::IsTerminator>())
    return "result";
  if (op->hasTrait<OpTrait::ConstantLike>())
    return "constant";
  StringRef dialect = op->getName().getDialectNamespace();
  // Memory without contents, or other names for contents.
  if (op->getNumOperands() == 0 && op->getNumRegions() == 0)
    return "constant";
  if (isa<ViewLikeOpInterface>(op) || dialect == "tensor" || dialect == "bufferization")
    return "view";
  if (isa<CallOpInterface>(op) || op->getAttrOfType<SymbolRefAttr>("callee"))
    return "call";
  return dialect == "scf" ? "control" : "operation";
}

// Operations nested in one, with their numbers, most frequent first; those that only hold others together are left out.
Array countNested(Operation *op) {
  llvm::MapVector<StringRef, int64_t> counts;
  op->walk([&](Operation *nested) {
    if (nested != op && !nested->hasTrait<OpTrait::IsTerminator>() && !nested->hasTrait<OpTrait::ConstantLike>())
      ++counts[nested->getName().getStringRef()];
  });
  auto entries = counts.takeVector();
  llvm::stable_sort(entries, [](auto &a, auto &b) { return a.second > b.second; });
  Array result;
  for (auto &[name, count] : entries)
    result.push_back(Array{name.str(), count});
  return result;
}

struct Builder {
  StringRef level;
  Array &graphs;

  void addBlock(Block &block, std::string name, bool isFunction) {
    Array nodes, edges;
    DenseMap<Operation *, int64_t> numbers;
    DenseMap<BlockArgument, int64_t> arguments;
    auto addEdge = [&](int64_t from, int64_t to, Value value) {
      edges.push_back(Array{from, to, toText(value.getType())});
    };
    for (BlockArgument argument : block.getArguments()) {
      auto named = dyn_cast<NameLoc>(argument.getLoc());
      std::string label = (named ? named.getName().str() : "argument " + Twine(argument.getArgNumber()).str());
      arguments[argument] = nodes.size();
      nodes.push_back(Object{{"kind", "argument"},
                             {"label", llvm::json::fixUTF8(label)},
                             {"types", Array{toText(argument.getType())}},
                             {"location", locationText(argument.getLoc())}});
    }
    unsigned inner = 0;
    for (Operation &op : block) {
      auto number = static_cast<int64_t>(nodes.size());
      numbers[&op] = number;
      Object node{
          {"kind", kindOf(&op)}, {"label", op.getName().getStringRef().str()}, {"location", locationText(op.getLoc())}};
      Array types;
      for (Type type : op.getResultTypes())
        types.push_back(toText(type));
      node["types"] = std::move(types);
      node["operations"] = countNested(&op);
      if (auto callee = op.getAttrOfType<SymbolRefAttr>("callee")) {
        node["callee"] = llvm::json::fixUTF8(callee.getLeafReference().getValue());
        node["label"] = llvm::json::fixUTF8("@" + callee.getLeafReference().str());
        node["operations"] = countCallee(&op, callee);
      }
      if (kindOf(&op) == "control") {
        Array bodies;
        for (Region &region : op.getRegions())
          for (Block &body : llvm::make_range(region.begin(), region.end())) {
            std::string title = (Twine(name) + " › " + op.getName().getStringRef() + " " + Twine(inner++)).str();
            bodies.push_back(title);
            pending.push_back({&body, title});
          }
        node["bodies"] = std::move(bodies);
      }
      nodes.push_back(std::move(node));

      // Also what regions use of this block: one edge for each value.
      llvm::SetVector<Value> used;
      op.walk([&](Operation *nested) { used.insert(nested->operand_begin(), nested->operand_end()); });
      for (Value value : used) {
        if (auto argument = dyn_cast<BlockArgument>(value)) {
          if (auto it = arguments.find(argument); it != arguments.end())
            addEdge(it->second, number, value);
        } else if (Operation *producer = value.getDefiningOp(); producer->getBlock() == &block) {
          addEdge(numbers.lookup(producer), number, value);
        }
      }
    }
    graphs.push_back(Object{{"name", llvm::json::fixUTF8(name)},
                            {"level", level.str()},
                            {"inner", !isFunction},
                            {"nodes", std::move(nodes)},
                            {"edges", std::move(edges)}});
  }

  static Array countCallee(Operation *op, SymbolRefAttr callee) {
    Operation *function = SymbolTable::lookupNearestSymbolFrom(op, callee);
    return function ? countNested(function) : Array();
  }

  SmallVector<std::pair<Block *, std::string>> pending;
};

} // namespace

void addGraphs(FunctionOpInterface function, StringRef level, Array &graphs) {
  if (function.isExternal())
    return;
  Builder builder{level, graphs, {}};
  for (Block &block : function.getFunctionBody())
    builder.addBlock(block, "@" + function.getName().str(), /*isFunction=*/true);
  while (!builder.pending.empty()) {
    auto [block, name] = builder.pending.pop_back_val();
    builder.addBlock(*block, name, /*isFunction=*/false);
  }
}

} // namespace latewood::driver
