// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The native backend. A host function is straight code: addresses come out of the call frame, engine functions are called with
// them, and memory is asked for through the callbacks. It returns 0, or nonzero as soon as a request fails; the failure itself is
// recorded by the callback.
//
// In:  executor functions, and nested modules of LLVM functions.
// Out: one flat module of LLVM functions.

#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Target/ABI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace latewood;

namespace {

class HostFunctionConverter {
public:
  HostFunctionConverter(ModuleOp module, const DenseMap<StringAttr, int64_t> &constantNumbers)
      : module(module), constantNumbers(constantNumbers), builder(module.getContext()) {}

  LogicalResult convert(func::FuncOp function, StringRef symbol) {
    loc = function.getLoc();
    builder.setInsertionPoint(function);
    auto result = LLVM::LLVMFuncOp::create(builder, loc, symbol, abi::getFunctionType(builder.getContext()));
    Block *entry = result.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    call = entry->getArgument(0);
    failed = nullptr;
    addresses.clear();
    for (auto [index, argument] : llvm::enumerate(function.getArguments()))
      if (!argument.use_empty())
        addresses[argument] = abi::loadArgument(builder, loc, call, index);
    for (Operation &op : function.getBody().front())
      if (mlir::failed(convert(&op)))
        return failure();
    function.erase();
    return success();
  }

private:
  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }

  LogicalResult convert(Operation *op) {
    loc = op->getLoc();
    if (auto request = dyn_cast<executor::RequestOp>(op))
      return convertRequest(request);
    if (auto get = dyn_cast<executor::GetConstantOp>(op)) {
      addresses[get] = abi::loadConstant(builder, loc, call, constantNumbers.lookup(get.getConstantAttr().getAttr()));
      return success();
    }
    if (auto workspace = dyn_cast<executor::WorkspaceOp>(op)) {
      Value base = abi::loadWorkspace(builder, loc, call);
      addresses[workspace] = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                                 ArrayRef<LLVM::GEPArg>{constant(workspace.getOffset())});
      return success();
    }
    if (auto copy = dyn_cast<executor::CopyOp>(op)) {
      int64_t bytes = *executor::getByteSize(cast<MemRefType>(copy.getSource().getType()));
      LLVM::MemcpyOp::create(builder, loc, addresses.lookup(copy.getTarget()), addresses.lookup(copy.getSource()),
                             constant(bytes), /*isVolatile=*/false);
      return success();
    }
    if (auto launch = dyn_cast<executor::LaunchOp>(op)) {
      SmallVector<Value> operands{call};
      for (Value buffer : launch.getBuffers())
        operands.push_back(addresses.lookup(buffer));
      operands.push_back(launch.getWorkspace()
                             ? addresses.lookup(launch.getWorkspace())
                             : LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext())));
      LLVM::CallOp::create(builder, loc, TypeRange(), launch.getCallee().getLeafReference(), operands);
      return success();
    }
    if (isa<func::ReturnOp>(op)) {
      LLVM::ReturnOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
      return success();
    }
    return op->emitError() << "'" << op->getName() << "' has no native form";
  }

  // ptr = request(call, slot, bytes, alignment, shape); if (!ptr) return 1;
  LogicalResult convertRequest(executor::RequestOp request) {
    auto type = cast<MemRefType>(request.getType());
    auto bytes = executor::getByteSize(type);
    if (mlir::failed(bytes))
      return request.emitError() << "an output slot of a type that is not static: " << type;
    // Generated code assumes no more than the alignment of an element: that is what a caller's buffer has.
    int64_t elementAlignment = executor::getElementBytes(type.getElementType());
    Value address =
        abi::callApi(builder, loc, call, abi::ApiEntry::Request,
                     {constant(request.getSlot()), constant(*bytes), constant(elementAlignment), shapeTable(type)})
            .getResult();
    Block *head = builder.getBlock();
    Region *region = head->getParent();
    Block *rest = builder.createBlock(region, region->end());
    if (!failed) {
      failed = builder.createBlock(region, region->end());
      LLVM::ReturnOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1)));
    }
    builder.setInsertionPointToEnd(head);
    Value null = LLVM::ZeroOp::create(builder, loc, address.getType());
    Value isNull = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, address, null);
    LLVM::CondBrOp::create(builder, loc, isNull, failed, ValueRange(), rest, ValueRange());
    builder.setInsertionPointToEnd(rest);
    addresses[request] = address;
    return success();
  }

  // The address of the extents, as a constant of the image (reached relative to the program counter: no relocation).
  Value shapeTable(MemRefType type) {
    if (type.getRank() == 0)
      return LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
    std::string name = "latewood_shape";
    for (int64_t extent : type.getShape())
      name += "_" + std::to_string(extent);
    if (!module.lookupSymbol(name)) {
      OpBuilder atModule = OpBuilder::atBlockBegin(module.getBody());
      auto array = LLVM::LLVMArrayType::get(builder.getI64Type(), type.getRank());
      auto tensor = RankedTensorType::get({type.getRank()}, builder.getI64Type());
      LLVM::GlobalOp::create(atModule, loc, array, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                             DenseElementsAttr::get(tensor, type.getShape()), /*alignment=*/8);
    }
    return LLVM::AddressOfOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), name);
  }

  ModuleOp module;
  const DenseMap<StringAttr, int64_t> &constantNumbers;
  OpBuilder builder;
  Location loc = UnknownLoc::get(builder.getContext());
  Value call;
  Block *failed = nullptr;
  DenseMap<Value, Value> addresses;
};

// Moves the functions of nested modules to the top. Their names are unique there: they begin with the name of a public function.
LogicalResult flatten(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto nested : llvm::to_vector(module.getOps<ModuleOp>())) {
    for (Operation &op : llvm::make_early_inc_range(*nested.getBody())) {
      auto name = SymbolTable::getSymbolName(&op);
      if (Operation *other = symbols.lookup(name)) {
        auto declaration = dyn_cast<LLVM::LLVMFuncOp>(other);
        if (declaration && declaration.isExternal()) {
          op.erase(); // two engines' modules declare the same library function
          continue;
        }
        return op.emitError() << "symbol '" << name.getValue() << "' is defined twice";
      }
      op.remove();
      symbols.insert(&op);
    }
    nested.erase();
  }
  return success();
}

} // namespace

FailureOr<std::vector<translate::Entry>> translate::convertExecutorToLLVM(ModuleOp module) {
  // A module that was read back after a phase has not met the dialect yet, nor has one without clusters.
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  DenseMap<StringAttr, int64_t> constantNumbers;
  for (auto constant : module.getOps<executor::ConstantOp>())
    constantNumbers.insert({constant.getSymNameAttr(), constantNumbers.size()});

  std::vector<Entry> entries;
  HostFunctionConverter converter(module, constantNumbers);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    std::string symbol = "lw_entry_" + std::to_string(entries.size());
    entries.push_back({function.getName().str(), symbol});
    if (failed(converter.convert(function, symbol)))
      return failure();
  }
  if (failed(flatten(module)))
    return failure();
  for (auto constant : llvm::to_vector(module.getOps<executor::ConstantOp>()))
    constant.erase();
  return entries;
}
