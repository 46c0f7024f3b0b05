// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimization and emission. What is particular here:
//
//  - One target for everything. Functions that come from MLIR carry no target, those of the library carry that of their
//    level; inlining between them needs all of them to agree, so the attributes are replaced after linking.
//  - LLVM must not invent calls. No library function is known to the optimizer (loops stay loops), conversions that
//  would
//    become calls are expanded before, and what instruction selection still calls has to be in the library archive.
//    That is checked on the finished object.
//  - No vectorizers: vector code was made before, with knowledge that LLVM does not have.
//  - A large module is split by function before the library is linked to each part, and the parts are compiled in
//  contexts
//    of their own. The split depends on the module only; so do the bytes.

#include "latewood/compiler/Target/Codegen.h"
#include "latewood/compiler/Target/CarryBFloats.h"
#include "latewood/compiler/Target/DeviceLibrary.h"
#include "latewood/compiler/Target/ExpandConversions.h"
#include "latewood/compiler/Target/FoldKnownSums.h"
#include "latewood/compiler/Target/Link.h"
#include "latewood/compiler/Target/PassArguments.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <atomic>
#include <thread>

using namespace llvm;

namespace latewood::target {

namespace {

/// Collects what LLVM reports through the context. Without a handler an error would end the process.
class DiagnosticScope {
public:
  explicit DiagnosticScope(LLVMContext &context)
      : context(context), handler(context.getDiagnosticHandlerCallBack()),
        handlerContext(context.getDiagnosticContext()) {
    context.setDiagnosticHandlerCallBack(
        [](const DiagnosticInfo *info, void *self) {
          if (info->getSeverity() != DS_Error)
            return;
          raw_string_ostream os(static_cast<DiagnosticScope *>(self)->errors);
          DiagnosticPrinterRawOStream printer(os);
          if (!static_cast<DiagnosticScope *>(self)->errors.empty())
            os << "; ";
          info->print(printer);
        },
        this);
  }
  ~DiagnosticScope() { context.setDiagnosticHandlerCallBack(handler, handlerContext); }
  DiagnosticScope(const DiagnosticScope &) = delete;

  Error takeError(const Twine &what) {
    std::string detail = errors.empty() ? "" : ": " + errors;
    return createStringError("code generation: " + what + detail);
  }
  bool failed() const { return !errors.empty(); }

private:
  LLVMContext &context;
  DiagnosticHandler::DiagnosticHandlerTy handler;
  void *handlerContext;
  std::string errors;
};

} // namespace

// Links the bodies of the library functions that the module calls.
static Error linkLibrary(Module &module, const Target &target, DiagnosticScope &diagnostics) {
  bool needed = any_of(module, [](const Function &f) { return f.isDeclaration() && f.getName().starts_with("lw_"); });
  if (!needed)
    return Error::success();
  MemoryBufferRef bytes(getLibraryBitcode(target.getLevel()), "device library");
  Expected<std::unique_ptr<Module>> library = getLazyBitcodeModule(bytes, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(*library), Linker::Flags::LinkOnlyNeeded))
    return diagnostics.takeError("the device library does not fit the module");
  return Error::success();
}

// A long function that runs once from its beginning to its end and only passes numbers and addresses on: the host
// program of many arguments, the calls of a network's kernels. Scheduling it takes the square of its length and gains
// nothing.
static bool isLongSequence(const Function &function) {
  constexpr unsigned kLong = 3000;
  if (function.getInstructionCount() < kLong)
    return false;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> backEdges;
  FindFunctionBackedges(function, backEdges);
  return backEdges.empty() && none_of(instructions(function), [](const Instruction &instruction) {
           return instruction.getType()->isFPOrFPVectorTy() || instruction.getType()->isVectorTy();
         });
}

// Gives all functions the one target and the properties that an image relies on.
static void setAttributes(Module &module, const Target &target) {
  std::string features = target.getFeatureString();
  std::string width = std::to_string(target.getVectorBits());
  for (Function &function : module) {
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "no-builtins", "min-legal-vector-width",
                                  "prefer-vector-width", "frame-pointer", "stack-protector-buffer-size"})
      function.removeFnAttr(attribute);
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    function.setUWTableKind(UWTableKind::None);
    function.addFnAttr("target-cpu", target.getCPU());
    if (!features.empty())
      function.addFnAttr("target-features", features);
    function.addFnAttr("tune-cpu", target.getTuneCPU());
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("frame-pointer", "all");      // profilers unwind by frame pointer
    function.addFnAttr("probe-stack", "inline-asm"); // a frame over a page must not jump over the guard page
    if (isLongSequence(function)) {
      function.removeFnAttr(Attribute::AlwaysInline);
      function.addFnAttr(Attribute::NoInline);
      function.addFnAttr(Attribute::OptimizeNone);
    }
  }
}

static void optimize(Module &module, TargetMachine &machine, const TargetLibraryInfoImpl &library) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  PassBuilder builder(&machine, tuning);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

// The object may refer to nothing but the library archive and other parts of the module.
static Error checkUndefinedSymbols(const Bytes &object, const Target &target, const StringSet<> &elsewhere) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(StringRef(object.data(), object.size()), "object"));
  if (!file)
    return file.takeError();
  std::string unknown;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined))
      continue;
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (name->empty() || isArchiveSymbol(target.getLevel(), *name) || elsewhere.contains(*name))
      continue;
    unknown += (unknown.empty() ? "'" : ", '") + name->str() + "'";
  }
  if (unknown.empty())
    return Error::success();
  return createStringError("code generation: the code calls " + unknown +
                           ", which no image can provide; such operations have to become calls of the device library "
                           "before they reach LLVM");
}

// Compiles a module or a part of one. `elsewhere`: what other parts define.
static Expected<Bytes> compilePart(Module &module, const Target &target, const StringSet<> &visible,
                                   const StringSet<> &elsewhere) {
  DiagnosticScope diagnostics(module.getContext());
  Expected<std::unique_ptr<TargetMachine>> machine = target.createTargetMachine();
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(Target::getTriple()));
  module.setDataLayout((*machine)->createDataLayout());
  if (Error error = linkLibrary(module, target, diagnostics))
    return error;
  internalizeModule(module, [&](const GlobalValue &value) { return visible.contains(value.getName()); });
  setAttributes(module, target);
  expandConversions(module);
  carryBFloats(module);

  TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  optimize(module, **machine, library);
  foldKnownSums(module);

  Bytes object;
  raw_svector_ostream os(object);
  legacy::PassManager passes;
  passes.add(new TargetLibraryInfoWrapperPass(library));
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::ObjectFile))
    return diagnostics.takeError("LLVM cannot emit objects for " + target.str());
  passes.run(module);
  if (diagnostics.failed())
    return diagnostics.takeError("LLVM failed");
  if (Error error = checkUndefinedSymbols(object, target, elsewhere))
    return error;
  return object;
}

// How much work a function is, in instructions. A micro-kernel is a call here and hundreds of instructions afterwards.
static uint64_t estimateSize(const Function &function) {
  constexpr uint64_t kLibraryCall = 150;
  uint64_t size = 0;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    size += callee && callee->isDeclaration() && callee->getName().starts_with("lw_") ? kLibraryCall : 1;
  }
  return size;
}

// Assigns each function of a large module to a part: the largest first, each to the part with the least work. A part is
// worth what it costs from kPartSize on, and more parts than make the largest function wait for the others are of no
// use. Returns one part when there is nothing to gain.
static unsigned assignParts(const Module &module, DenseMap<const Function *, unsigned> &partOf) {
  constexpr uint64_t kPartSize = 6000, kMaxParts = 8;
  SmallVector<std::pair<uint64_t, const Function *>> functions;
  uint64_t total = 0;
  for (const Function &function : module)
    if (!function.isDeclaration()) {
      functions.push_back({estimateSize(function), &function});
      total += functions.back().first;
    }
  llvm::stable_sort(functions, [](const auto &a, const auto &b) { return a.first > b.first; });
  if (functions.empty() || functions.front().first == 0)
    return 1;
  // Rounded up: two functions of which one is a little larger are two parts.
  uint64_t useful = (total + functions.front().first / 2) / functions.front().first;
  unsigned parts = std::max<uint64_t>(1, std::min({total / kPartSize, useful, kMaxParts}));
  SmallVector<uint64_t> load(parts);
  for (auto [size, function] : functions) {
    unsigned part = llvm::min_element(load) - load.begin();
    load[part] += size;
    partOf[function] = part;
  }
  return parts;
}

// Cuts the module into parts, as bitcode: each crosses into a context of its own. What one part defines the others
// declare; so private names become hidden ones.
static std::vector<Bytes> splitModule(Module &module, unsigned parts,
                                      const DenseMap<const Function *, unsigned> &partOf) {
  unsigned unnamed = 0;
  for (GlobalValue &value : module.global_values())
    if (value.hasLocalLinkage()) {
      value.setLinkage(GlobalValue::ExternalLinkage);
      value.setVisibility(GlobalValue::HiddenVisibility);
      if (!value.hasName())
        value.setName("unnamed." + Twine(unnamed++));
    }
  std::vector<Bytes> pieces(parts);
  for (unsigned part = 0; part < parts; ++part) {
    ValueToValueMapTy values;
    std::unique_ptr<Module> piece = CloneModule(module, values, [&](const GlobalValue *value) {
      const auto *function = dyn_cast<Function>(value);
      return (function ? partOf.lookup(function) : 0) == part;
    });
    raw_svector_ostream bitcode(pieces[part]);
    WriteBitcodeToFile(*piece, bitcode);
  }
  return pieces;
}

Expected<std::vector<Bytes>> compileToObjects(std::unique_ptr<Module> module, const Target &target,
                                              ArrayRef<std::string> entries) {
  std::string errors;
  raw_string_ostream os(errors);
  if (verifyModule(*module, &os))
    return createStringError("code generation: the module is invalid: " + errors);
  StringSet<> visible;
  for (const std::string &entry : entries) {
    Function *function = module->getFunction(entry);
    if (!function || function->isDeclaration())
      return createStringError("code generation: the module does not define the entry '" + entry + "'");
    function->setLinkage(GlobalValue::ExternalLinkage);
    function->setVisibility(GlobalValue::DefaultVisibility);
    visible.insert(entry);
  }
  // What one part calls in another must not be exported by the image.
  for (GlobalValue &value : module->global_values())
    if (!value.isDeclaration() && !value.hasLocalLinkage() && !visible.contains(value.getName()))
      value.setVisibility(GlobalValue::HiddenVisibility);

  passArgumentsInMemory(*module);

  DenseMap<const Function *, unsigned> partOf;
  unsigned parts = assignParts(*module, partOf);
  std::vector<Bytes> objects;
  if (parts == 1) {
    Expected<Bytes> object = compilePart(*module, target, visible, StringSet<>());
    if (!object)
      return object.takeError();
    objects.push_back(std::move(*object));
    return objects;
  }
  std::vector<Bytes> pieces = splitModule(*module, parts, partOf);
  module.reset();

  std::vector<StringSet<>> defined(pieces.size());
  StringSet<> all;
  std::vector<std::string> failures(pieces.size());
  objects.resize(pieces.size());
  auto parse = [&](size_t i, LLVMContext &context) {
    return parseBitcodeFile(MemoryBufferRef(StringRef(pieces[i].data(), pieces[i].size()), "part"), context);
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    LLVMContext context;
    auto part =
        cantFail(getLazyBitcodeModule(MemoryBufferRef(StringRef(pieces[i].data(), pieces[i].size()), "part"), context));
    for (const GlobalValue &value : part->global_values())
      if (!value.isDeclaration() && !value.hasLocalLinkage()) {
        defined[i].insert(value.getName());
        all.insert(value.getName());
      }
  }
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < pieces.size();) {
      LLVMContext context;
      auto part = cantFail(parse(i, context));
      Expected<Bytes> object = compilePart(*part, target, defined[i], all);
      if (object)
        objects[i] = std::move(*object);
      else
        failures[i] = toString(object.takeError());
    }
  };
  std::vector<std::thread> threads;
  size_t count = std::min<size_t>(pieces.size(), std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &failure : failures)
    if (!failure.empty())
      return createStringError(failure);
  return objects;
}

Expected<Bytes> compileToImage(std::unique_ptr<Module> module, const Target &target, ArrayRef<std::string> entries) {
  Expected<std::vector<Bytes>> objects = compileToObjects(std::move(module), target, entries);
  if (!objects)
    return objects.takeError();
  return linkImage(*objects, target, entries);
}

} // namespace latewood::target
