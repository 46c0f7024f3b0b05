// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Lua backend. The source uses three tables that the runtime provides, `core` (memory, slots, failures), `cpu`
// (launches) and `int` (operations that Lua's own differ from), and nothing else. Values of the host program are:
//
//   buffers    light userdata, the address
//   integers   Lua integers, sign-extended from the width of their type; every operation keeps them so
//   i1         booleans
//
// Lua allows 200 local variables in a function, and 255 registers. A long block is therefore divided into `do … end`
// parts whose local variables end with them, and values that are needed in another part, or that are too many, are
// fields of the table `v`. Arguments come in a table; many operands go out in one.
//
// In:  executor functions with structured control flow.
// Out: source text, the same for the same module.

#include "latewood/compiler/Translate/ExecutorToLua.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/MemorySpaces.h"
#include "latewood/compiler/Translate/LuaExpressions.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
namespace lua = latewood::translate::lua;

namespace {

constexpr unsigned maxLocals = 140, maxPartResults = 60, maxOperands = 60, maxRank = 64;

class LuaWriter {
public:
  explicit LuaWriter(ModuleOp module) : module(module) {
    for (auto constant : module.getOps<executor::ConstantOp>())
      constantNumbers.insert({constant.getSymNameAttr(), constantNumbers.size()});
    for (auto engine : module.getOps<executor::EngineOp>())
      engineNumbers.insert({engine.getSymNameAttr(), engineNumbers.size()});
  }

  FailureOr<translate::LuaProgram> write() {
    std::string functions;
    llvm::raw_string_ostream stream(functions);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(writeFunction(function, stream)))
        return failure();
    llvm::raw_string_ostream source(program.source);
    source << "-- The host program of " << printable(module.getSymName().value_or("a module"))
           << ", written by latewood " << LATEWOOD_VERSION << ".\n"
           << "local core, cpu, int = core, cpu, int\n"
           << (engineNumbers.empty() ? "" : "local engine = engine\n") << "local kernels = {}\n";
    for (const auto &kernel : program.kernels)
      source << kernelName(kernel.callee) << " = cpu.kernel(" << lua::quote(kernel.symbol) << ")\n";
    source << functions;
    return std::move(program);
  }

private:
  //===--- Functions and blocks ----------------------------------------------------------------------------------===//

  LogicalResult writeFunction(func::FuncOp function, raw_ostream &stream) {
    std::string symbol = "lw_entry_" + std::to_string(program.entries.size());
    program.entries.push_back({function.getName().str(), symbol});
    names.clear();
    body.clear();
    indent = 1;
    locals = counter = 0;
    needsTable = false;
    for (BlockArgument argument : function.getArguments())
      names[argument] = "args[" + std::to_string(argument.getArgNumber() + 1) + "]";
    if (failed(writeBlock(function.getBody().front())))
      return failure();
    stream << "\n-- " << printable(function.getName()) << "(";
    llvm::interleaveComma(function.getArgumentTypes(), stream);
    stream << ")";
    if (auto results = function->getAttrOfType<ArrayAttr>(executor::ExecutorDialect::getResultsAttrName())) {
      stream << " -> (";
      llvm::interleaveComma(results.getAsValueRange<TypeAttr>(), stream);
      stream << ")";
    }
    stream << "\nfunction " << symbol << "(args)\n";
    if (needsTable)
      stream << "  local v = {}\n";
    stream << body << "end\n";
    return success();
  }

  static std::string printable(StringRef text) {
    std::string result = text.str();
    for (char &c : result)
      if (static_cast<unsigned char>(c) < 32)
        c = ' ';
    return result;
  }

  void line(const Twine &text) {
    body.append(2 * indent, ' ');
    body += text.str();
    body += "\n";
  }

  // The parts of a block: each begins with one of the operations. The terminator belongs to none of several.
  SmallVector<unsigned> divide(Block &block) {
    SmallVector<unsigned> starts{0};
    unsigned results = 0, position = 0;
    for (Operation &op : block.without_terminator()) {
      if (results + op.getNumResults() > maxPartResults && results != 0) {
        starts.push_back(position);
        results = 0;
      }
      results += op.getNumResults();
      partOf[&op] = starts.size() - 1;
      ++position;
    }
    partOf[block.getTerminator()] = starts.size() == 1 ? 0 : starts.size();
    return starts;
  }

  // Writes a block up to its terminator, whose operands stay visible.
  LogicalResult writeBlock(Block &block) {
    SmallVector<unsigned> starts = divide(block);
    unsigned outer = locals, part = 0, position = 0;
    bool isDivided = starts.size() > 1;
    for (Operation &op : block.without_terminator()) {
      if (isDivided && part < starts.size() && starts[part] == position) {
        if (part != 0)
          closePart(outer);
        line("do");
        ++indent;
        ++part;
      }
      if (failed(write(&op)))
        return failure();
      ++position;
    }
    if (isDivided)
      closePart(outer);
    return success();
  }

  void closePart(unsigned outer) {
    --indent;
    line("end");
    locals = outer;
  }

  // Writes a block between `head` and `end`, with its own local variables.
  template <typename Body>
  LogicalResult nest(const Twine &head, Body &&write, StringRef end = "end") {
    line(head);
    ++indent;
    unsigned outer = locals;
    LogicalResult result = write();
    locals = outer;
    --indent;
    if (!end.empty())
      line(end);
    return result;
  }

  //===--- Values ------------------------------------------------------------------------------------------------===//

  // True if `value` must outlive the part of the block that it is made in: it is used in another one, or is an extent
  // of a buffer that is.
  bool leavesPart(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    auto isElsewhere = [&](Operation *user) {
      return partOf.lookup(op->getBlock()->findAncestorOpInBlock(*user)) != partOf.lookup(op);
    };
    auto isUsedElsewhere = [&](ValueRange values) {
      return llvm::any_of(values, [&](Value value) { return llvm::any_of(value.getUsers(), isElsewhere); });
    };
    if (isa<executor::EnqueueAllocOp>(op))
      return isUsedElsewhere(op->getResults());
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isElsewhere(user) || (isa<executor::RequestOp, executor::AllocOp, executor::ViewOp>(user) &&
                                   isUsedElsewhere(user->getResults()));
    });
  }

  // Names a value; the text is what an assignment begins with: `local n3` or `v.n3`.
  std::string declare(Value value) {
    StringRef prefix = isa<MemRefType>(value.getType()) ? "b" : value.getType().isInteger(1) ? "c" : "n";
    std::string name = (prefix + Twine(counter++)).str();
    if (locals >= maxLocals || leavesPart(value)) {
      needsTable = true;
      return names[value] = "v." + name;
    }
    ++locals;
    names[value] = name;
    return "local " + name;
  }

  void define(Value value, const Twine &expression) {
    // The expression may use names, so it is complete before the value is named.
    std::string text = expression.str();
    line(declare(value) + " = " + text);
  }

  const std::string &name(Value value) { return names.find(value)->second; }

  // Several assignments at once, as the values are all read before.
  void assign(ArrayRef<std::string> targets, ArrayRef<std::string> sources) {
    if (targets.empty())
      return;
    if (targets.size() <= maxOperands) {
      line(llvm::join(targets, ", ") + " = " + llvm::join(sources, ", "));
      return;
    }
    needsTable = true;
    for (auto [index, source] : llvm::enumerate(sources))
      line("v[" + Twine(index) + "] = " + source);
    for (auto [index, target] : llvm::enumerate(targets))
      line(target + " = v[" + Twine(index) + "]");
  }

  SmallVector<std::string> namesOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return name(value); });
  }

  FailureOr<std::string> extentOf(Value buffer, int64_t dimension) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.isDynamicDim(dimension))
      return lua::literal(type.getDimSize(dimension));
    auto extents = executor::getExtents(buffer);
    if (failed(extents))
      return failure();
    if (extents->argument)
      return "core.dim(" + std::to_string(extents->argument.getArgNumber()) + ", " + std::to_string(dimension) + ")";
    return name(extents->sizes[type.getDynamicDimIndex(dimension)]);
  }

  FailureOr<SmallVector<std::string>> extentsOf(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<std::string> result;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      auto extent = extentOf(buffer, dimension);
      if (failed(extent))
        return failure();
      result.push_back(std::move(*extent));
    }
    return result;
  }

  FailureOr<std::string> bytesOf(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    if (auto bytes = executor::getByteSize(type); succeeded(bytes))
      return lua::literal(*bytes);
    auto extents = extentsOf(buffer);
    if (failed(extents) || extents->size() > maxRank)
      return failure();
    return "core.bytes(" + std::to_string(executor::getElementBytes(type.getElementType())) + ", " +
           llvm::join(*extents, ", ") + ")";
  }

  //===--- Operations --------------------------------------------------------------------------------------------===//

  LogicalResult write(Operation *op) {
    if (auto number = dyn_cast<executor::ScalarOp>(op)) {
      APInt value = cast<IntegerAttr>(number.getValue()).getValue();
      names[number] =
          value.getBitWidth() == 1 ? (value.isZero() ? "false" : "true") : lua::literal(value.getSExtValue());
      return success();
    }
    auto nameOf = [&](Value value) { return name(value); };
    if (std::string expression = lua::scalarExpression(op, nameOf); !expression.empty()) {
      define(op->getResult(0), expression);
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<executor::RequestOp, executor::ShapeOp, executor::AllocOp, executor::CopyOp, executor::FillOp,
              executor::LoadOp, executor::StoreOp, executor::DimOp, executor::AssertOp, executor::LaunchOp,
              executor::EnqueueOp, executor::EnqueueAllocOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::ForOp>(
            [&](auto typed) { return writeOp(typed); })
        .Case([&](executor::GetConstantOp get) {
          define(get, "core.constant(" + Twine(constantNumbers.lookup(get.getConstantAttr().getAttr())) + ")");
          return success();
        })
        .Case([&](executor::WorkspaceOp workspace) {
          define(workspace, "core.workspace(" + Twine(workspace.getOffset()) + ")");
          return success();
        })
        .Case([&](executor::FreeOp free) {
          line("core.free(" + name(free.getBuffer()) + ")");
          return success();
        })
        .Case([&](executor::ViewOp view) {
          define(view, view.getOffset() ? "core.offset(" + name(view.getSource()) + ", " + name(view.getOffset()) + ")"
                                        : name(view.getSource()));
          return success();
        })
        .Default([](Operation *other) -> LogicalResult {
          return other->emitError() << "'" << other->getName() << "' has no Lua form";
        });
  }

  LogicalResult invisible(Operation *op) {
    return op->emitError() << "needs extents that are not visible, or more than " << maxRank << " of them";
  }

  LogicalResult writeOp(executor::RequestOp request) {
    auto type = dyn_cast<MemRefType>(request.getType());
    if (!type)
      return request.emitError() << "an output slot that is not bufferized: " << request.getType();
    auto bytes = bytesOf(request.getResult());
    auto extents = extentsOf(request.getResult());
    if (failed(bytes) || failed(extents))
      return invisible(request);
    std::string text = "core.request(" + std::to_string(request.getSlot()) + ", " + *bytes + ", " +
                       std::to_string(executor::getElementBytes(type.getElementType()));
    // A static shape is that of the signature.
    if (!type.hasStaticShape() && !request.getUnshaped())
      text += ", " + llvm::join(*extents, ", ");
    define(request.getResult(), text + ")");
    return success();
  }

  LogicalResult writeOp(executor::ShapeOp shape) {
    if (shape.getExtents().size() > maxRank)
      return invisible(shape);
    std::string text = "core.shape(" + std::to_string(shape.getSlot());
    for (const std::string &extent : namesOf(shape.getExtents()))
      text += ", " + extent;
    line(text + ")");
    return success();
  }

  LogicalResult writeOp(executor::AllocOp alloc) {
    auto bytes = bytesOf(alloc.getResult());
    if (failed(bytes))
      return invisible(alloc);
    define(alloc, (plan::isOnDevice(alloc.getType()) ? "engine.alloc(" : "core.alloc(") + *bytes + ")");
    return success();
  }

  LogicalResult writeOp(executor::CopyOp copy) {
    auto bytes = bytesOf(copy.getSource());
    if (failed(bytes))
      return invisible(copy);
    line("core.copy(" + name(copy.getTarget()) + ", " + name(copy.getSource()) + ", " + *bytes + ")");
    return success();
  }

  LogicalResult writeOp(executor::FillOp fill) {
    auto bytes = bytesOf(fill.getBuffer());
    if (failed(bytes))
      return invisible(fill);
    auto [bits, size] = *executor::getFillPattern(fill.getValue());
    line("core.fill(" + name(fill.getBuffer()) + ", " + *bytes + ", 0x" + Twine(llvm::utohexstr(bits)) + ", " +
         Twine(size) + ")");
    return success();
  }

  // The suffix of core's functions for an element, and where it lies.
  static std::pair<std::string, int64_t> place(Type buffer, uint64_t position) {
    Type element = cast<MemRefType>(buffer).getElementType();
    return {"_i" + std::to_string(executor::getScalarWidth(element)),
            static_cast<int64_t>(position) * executor::getElementBytes(element)};
  }

  LogicalResult writeOp(executor::LoadOp load) {
    auto [suffix, offset] = place(load.getBuffer().getType(), load.getPosition());
    define(load, "core.load" + suffix + "(" + name(load.getBuffer()) + ", " + Twine(offset) + ")");
    return success();
  }

  LogicalResult writeOp(executor::StoreOp store) {
    auto [suffix, offset] = place(store.getBuffer().getType(), store.getPosition());
    line("core.store" + suffix + "(" + name(store.getBuffer()) + ", " + Twine(offset) + ", " + name(store.getValue()) +
         ")");
    return success();
  }

  LogicalResult writeOp(executor::DimOp dim) {
    auto extent = extentOf(dim.getBuffer(), dim.getDimension());
    if (failed(extent))
      return invisible(dim);
    define(dim, *extent);
    return success();
  }

  LogicalResult writeOp(executor::AssertOp assertion) {
    std::string text =
        "if not " + name(assertion.getCondition()) + " then core.fail(" + lua::quote(assertion.getMessage());
    SmallVector<std::string> values = namesOf(assertion.getValues());
    if (values.size() > maxOperands)
      return assertion.emitError() << "has more than " << maxOperands << " values";
    for (const std::string &value : values)
      text += ", " + value;
    line(text + ") end");
    return success();
  }

  LogicalResult writeOp(executor::LaunchOp launch) {
    auto [place, isNew] = kernelNumbers.insert({launch.getCallee(), program.kernels.size()});
    if (isNew)
      program.kernels.push_back({launch.getCallee(), "lw_kernel_" + std::to_string(program.kernels.size())});
    SmallVector<std::string> operands = namesOf(launch.getArguments());
    operands.push_back(launch.getWorkspace() ? name(launch.getWorkspace()) : "false");
    std::string list = llvm::join(operands, ", ");
    if (operands.size() > maxOperands)
      list = "{" + list + "}";
    line("cpu.launch(" + kernelName(launch.getCallee()) + ", " + list + ")");
    return success();
  }

  // A table of words: data, rank and extents of each operand.
  FailureOr<std::string> operandTable(ValueRange operands) {
    SmallVector<std::string> words;
    for (Value operand : operands) {
      words.push_back(name(operand));
      auto type = dyn_cast<MemRefType>(operand.getType());
      words.push_back(std::to_string(type ? type.getRank() : -1));
      if (!type)
        continue;
      auto extents = extentsOf(operand);
      if (failed(extents))
        return failure();
      llvm::append_range(words, *extents);
    }
    return "{" + llvm::join(words, ", ") + "}";
  }

  LogicalResult writeOp(executor::EnqueueOp run) {
    auto inputs = operandTable(run.getInputs()), outs = operandTable(run.getOuts());
    if (failed(inputs) || failed(outs))
      return invisible(run);
    line("engine.enqueue(" + Twine(engineNumbers.lookup(run.getEngineAttr().getAttr())) + ", " + *inputs + ", " +
         *outs + ")");
    return success();
  }

  LogicalResult writeOp(executor::EnqueueAllocOp run) {
    auto inputs = operandTable(run.getInputs());
    if (failed(inputs))
      return invisible(run);
    SmallVector<std::string> slots;
    for (auto [slot, buffer] : llvm::zip(run.getSlots(), run.getBuffers()))
      llvm::append_values(slots, std::to_string(plan::isOnDevice(buffer.getType()) ? LATEWOOD_ON_DEVICE : slot),
                          std::to_string(cast<MemRefType>(buffer.getType()).getRank()));
    std::string table = ("r" + Twine(counter++)).str();
    line("local " + table + " = engine.enqueue_alloc(" + Twine(engineNumbers.lookup(run.getEngineAttr().getAttr())) +
         ", " + *inputs + ", {" + llvm::join(slots, ", ") + "})");
    ++locals;
    unsigned at = 0;
    for (auto [index, buffer] : llvm::enumerate(run.getBuffers())) {
      define(buffer, table + "[" + Twine(++at) + "]");
      auto type = cast<MemRefType>(buffer.getType());
      ValueRange extents = run.getExtentsOf(index);
      for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
        ++at;
        if (type.isDynamicDim(dimension))
          define(extents[type.getDynamicDimIndex(dimension)], table + "[" + Twine(at) + "]");
      }
    }
    return success();
  }

  static std::string kernelName(SymbolRefAttr callee) {
    StringRef leaf = callee.getLeafReference().getValue();
    return lua::isIdentifier(leaf) ? ("kernels." + leaf).str() : "kernels[" + lua::quote(leaf) + "]";
  }

  //===--- Control flow ------------------------------------------------------------------------------------------===//

  // A branch, whose values become the results of its operation.
  LogicalResult writeBranch(Block &block) {
    if (failed(writeBlock(block)))
      return failure();
    assign(namesOf(block.getParentOp()->getResults()), namesOf(block.getTerminator()->getOperands()));
    return success();
  }

  LogicalResult writeOp(scf::IfOp op) {
    for (Value result : op.getResults())
      define(result, "false");
    bool hasElse = op.elseBlock() && !(op.elseBlock()->without_terminator().empty() && op.getNumResults() == 0);
    if (failed(nest(
            "if " + name(op.getCondition()) + " then", [&] { return writeBranch(*op.thenBlock()); },
            hasElse ? "" : "end")))
      return failure();
    return hasElse ? nest("else", [&] { return writeBranch(*op.elseBlock()); }) : success();
  }

  LogicalResult writeOp(scf::IndexSwitchOp op) {
    for (Value result : op.getResults())
      define(result, "false");
    std::string word = "if ";
    for (auto [number, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
      if (failed(nest(
              word + name(op.getArg()) + " == " + lua::literal(number) + " then",
              [&] { return writeBranch(region.front()); }, "")))
        return failure();
      word = "elseif ";
    }
    return nest(op.getCases().empty() ? "do" : "else", [&] { return writeBranch(op.getDefaultBlock()); });
  }

  LogicalResult writeOp(scf::WhileOp op) {
    SmallVector<std::string> inits = namesOf(op.getInits());
    for (Value result : op.getResults())
      define(result, "false");
    unsigned outer = locals;
    for (auto [argument, init] : llvm::zip_equal(op.getBeforeArguments(), inits))
      define(argument, init);
    LogicalResult result = nest("while true do", [&]() -> LogicalResult {
      if (failed(writeBlock(*op.getBeforeBody())))
        return failure();
      scf::ConditionOp condition = op.getConditionOp();
      SmallVector<std::string> passed = namesOf(condition.getArgs());
      (void)nest("if not " + name(condition.getCondition()) + " then", [&] {
        assign(namesOf(op.getResults()), passed);
        line("break");
        return success();
      });
      for (auto [argument, value] : llvm::zip_equal(op.getAfterArguments(), passed))
        define(argument, value);
      if (failed(writeBlock(*op.getAfterBody())))
        return failure();
      SmallVector<Value> arguments(op.getBeforeArguments().begin(), op.getBeforeArguments().end());
      assign(namesOf(arguments), namesOf(op.getYieldOp().getOperands()));
      return success();
    });
    // The arguments stay in scope, but are not needed any more; they are counted until the enclosing block ends.
    locals = std::max(locals, outer);
    return result;
  }

  LogicalResult writeOp(scf::ForOp op) {
    SmallVector<std::string> inits = namesOf(op.getInitArgs());
    for (auto [result, argument, init] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs(), inits)) {
      define(result, init);
      std::string variable = name(result);
      names[argument] = std::move(variable);
    }
    std::string lower = name(op.getLowerBound()), upper = name(op.getUpperBound()), step = name(op.getStep());
    std::string variable = "i" + std::to_string(counter++);
    names[op.getInductionVar()] = variable;
    // Without the condition `upper - 1` could wrap.
    return nest("if " + lower + " < " + upper + " then", [&] {
      return nest("for " + variable + " = " + lower + ", " + upper + " - 1, " + step + " do", [&]() -> LogicalResult {
        locals += 4; // the variable and three hidden ones
        if (failed(writeBlock(*op.getBody())))
          return failure();
        assign(namesOf(op.getResults()), namesOf(op.getBody()->getTerminator()->getOperands()));
        return success();
      });
    });
  }

  ModuleOp module;
  translate::LuaProgram program;
  DenseMap<StringAttr, int64_t> constantNumbers, engineNumbers;
  llvm::MapVector<SymbolRefAttr, size_t> kernelNumbers;
  DenseMap<Operation *, unsigned> partOf;
  DenseMap<Value, std::string> names;
  std::string body;
  unsigned indent = 0, locals = 0, counter = 0;
  bool needsTable = false;
};

} // namespace

FailureOr<translate::LuaProgram> translate::convertExecutorToLua(ModuleOp module) { return LuaWriter(module).write(); }
