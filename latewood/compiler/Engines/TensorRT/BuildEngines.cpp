// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes engines of the networks.
//
// Engines are expensive, so they are kept in a folder, under the hash of everything that decides what they are: the
// text of the network, its bounds, and the builder's options. A file begins with a line that says what it is, and a
// line with the version of the library that made it: engines of another version are built anew, where there is a
// builder.
//
// In:  the host program, and networks: functions of a tensorrt.module, or of a nested module of the engine `tensorrt`.
// Out: an engine beside the host program for each.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "latewood/compiler/Driver/OptionText.h"
#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"
#include "latewood/compiler/Engines/TensorRT/EngineWeights.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace latewood::tensorrt {

#define GEN_PASS_DEF_BUILDTENSORRTENGINESPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral fileMark = "LATEWOOD TENSORRT ENGINE 1\n";

/// Whether the functions in `op` are networks.
bool holdsNetworks(Operation &op) {
  auto engine = op.getAttrOfType<plan::EngineAttrInterface>(plan::PlanDialect::getEngineAttrName());
  return isa<ModuleOp>(op) || (isa<mlir::ModuleOp>(op) && engine && engine.getEngineName() == "tensorrt");
}

std::string printWithoutLocations(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope());
  return text;
}

llvm::Error writeFile(StringRef path, ArrayRef<StringRef> parts) {
  return llvm::writeToOutput(path, [&](raw_ostream &out) {
    for (StringRef part : parts)
      out << part;
    return llvm::Error::success();
  });
}

class BuildTensorRTEnginesPass : public impl::BuildTensorRTEnginesPassBase<BuildTensorRTEnginesPass> {
public:
  using BuildTensorRTEnginesPassBase::BuildTensorRTEnginesPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (Operation &op : getOperation().getBody()->getOperations())
      if (holdsNetworks(op))
        llvm::append_range(functions, op.getRegion(0).getOps<func::FuncOp>());
    if (functions.empty())
      return;
    std::vector<std::string> keys;
    for (func::FuncOp function : functions) {
      keys.push_back(makeKey(function));
      if (failed(exportNetwork(function, keys.back())))
        return signalPassFailure();
    }
    std::vector<SerializedEngine> engines(functions.size());
    auto build = [&](size_t i) -> LogicalResult {
      FailureOr<SerializedEngine> engine = getEngine(functions[i], keys[i]);
      if (succeeded(engine)) {
        engines[i] = std::move(*engine);
        if (stripWeights)
          engines[i].bytes = joinEngineAndWeights(engines[i].bytes, functions[i]);
      }
      return engine;
    };
    if (failed(failableParallelForEach(&getContext(), llvm::seq<size_t>(0, functions.size()), build)))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    SymbolTable symbols(getOperation());
    for (auto [function, engine] : llvm::zip(functions, engines)) {
      if (Operation *other = symbols.lookup(function.getSymName())) {
        InFlightDiagnostic diagnostic = function.emitError() << "network '" << function.getSymName()
                                                             << "' needs a name that nothing else in the program has";
        diagnostic.attachNote(other->getLoc()) << "this has it, too";
        return signalPassFailure();
      }
      symbols.insert(createEngine(builder, function, engine));
    }
  }

private:
  EngineBuildOptions getBuildOptions() const {
    return {level, capability, workspace, driver::decodeOptionText(timingCache), stripWeights, refit};
  }

  std::string makeKey(func::FuncOp function) const {
    // The network is what it is under any name.
    auto clone = OwningOpRef<func::FuncOp>(function.clone());
    clone->setName("network");
    llvm::SHA256 hash;
    hash.update(printWithoutWeights(*clone));
    hash.update(llvm::formatv("level={0} capability={1} workspace={2} strip={3} refit={4}", level, capability,
                              workspace, stripWeights, refit)
                    .str());
    // An engine without weights serves whatever they are.
    if (!stripWeights)
      for (ConstantOp op : getWeights(function))
        if (DenseElementsAttr elements = getElements(op)) {
          ArrayRef<char> raw = elements.getRawData();
          hash.update(ArrayRef(reinterpret_cast<const uint8_t *>(raw.data()), raw.size()));
        }
    std::array<uint8_t, 32> digest = hash.final();
    return llvm::toHex(ArrayRef(digest).take_front(16), /*LowerCase=*/true);
  }

  /// `key`.mlir: a program whose `main` is the network.
  LogicalResult exportNetwork(func::FuncOp function, StringRef key) {
    if (exportTo.empty())
      return success();
    std::string folder = driver::decodeOptionText(exportTo);
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return function.emitError() << "cannot make the folder '" << folder << "': " << error.message();
    OpBuilder builder(&getContext());
    OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(builder, function.getLoc()));
    auto clone = function.clone();
    module->push_back(clone);
    clone.setName("main");
    clone.setPublic();
    BitVector others(clone.getNumArguments(), true);
    for (unsigned i : getNetworkInputs(clone))
      others.reset(i);
    (void)clone.eraseArguments(others);
    for (unsigned i = 0; i < clone.getNumArguments(); ++i)
      clone.removeArgAttr(i, plan::PlanDialect::getExtentsAttrName());
    for (BlockArgument argument : clone.getArguments())
      if (!isa<TensorType>(argument.getType()))
        return function.emitError() << "argument " << argument.getArgNumber() << " is a scalar of type "
                                    << argument.getType() << ": such networks cannot be exported";
    SmallString<256> path(folder);
    llvm::sys::path::append(path, key + ".mlir");
    if (llvm::Error error = writeFile(path, {printWithoutLocations(*module), "\n"}))
      return function.emitError() << "cannot write '" << path << "': " << llvm::toString(std::move(error));
    return success();
  }

  FailureOr<SerializedEngine> getEngine(func::FuncOp function, StringRef key) {
    std::string missing;
    FailureOr<std::string> version = getBuilderVersion(missing);
    SmallString<256> path;
    if (!directory.empty()) {
      path = driver::decodeOptionText(directory);
      llvm::sys::path::append(path, key + ".engine");
      if (std::optional<SerializedEngine> kept = readEngine(path))
        if (failed(version) || kept->version == *version)
          return std::move(*kept);
    }
    if (failed(version)) {
      InFlightDiagnostic diagnostic = function.emitError() << missing;
      if (!path.empty())
        diagnostic.attachNote() << "the engine is not in '" << path << "' either";
      return failure();
    }
    FailureOr<SerializedEngine> engine = buildEngine(function, getBuildOptions());
    if (failed(engine) || path.empty())
      return engine;
    std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
    llvm::Error written =
        error
            ? llvm::errorCodeToError(error)
            : writeFile(path, {fileMark, engine->version, "\n", StringRef(engine->bytes.data(), engine->bytes.size())});
    if (written)
      function.emitRemark() << "the engine is not kept: '" << path
                            << "' cannot be written: " << llvm::toString(std::move(written));
    return engine;
  }

  static std::optional<SerializedEngine> readEngine(StringRef path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return std::nullopt;
    StringRef text = (*file)->getBuffer();
    if (!text.consume_front(fileMark))
      return std::nullopt;
    auto [version, bytes] = text.split('\n');
    return SerializedEngine{{bytes.begin(), bytes.end()}, version.str()};
  }

  static Operation *createEngine(OpBuilder &builder, func::FuncOp function, const SerializedEngine &engine) {
    SmallVector<Type> inputs;
    for (unsigned i : getNetworkInputs(function))
      inputs.push_back(function.getArgumentTypes()[i]);
    auto type = RankedTensorType::get(int64_t(engine.bytes.size()), builder.getI8Type());
    auto bytes = DenseElementsAttr::getFromRawBuffer(type, engine.bytes);
    auto network = builder.getFunctionType(inputs, function.getResultTypes());
    return tensorrt_runtime::EngineOp::create(builder, function.getLoc(), function.getName(), network, engine.version,
                                              bytes);
  }
};

} // namespace
} // namespace latewood::tensorrt
