// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The native backend. A buffer is its address, and a scalar an integer; addresses come out of the call frame, engine
// functions are called with them, and memory is asked for through the callbacks. The function returns 0, or nonzero as
// soon as a callback fails, which has then recorded the failure.
//
// In:  executor functions with structured control flow, and nested modules of LLVM functions.
// Out: one flat module of LLVM functions.

#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/MemorySpaces.h"
#include "latewood/compiler/Target/ABI.h"
#include "latewood/compiler/Translate/ScalarsToLLVM.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;

namespace {

class HostFunctionConverter {
public:
  HostFunctionConverter(ModuleOp module, const DenseMap<StringAttr, int64_t> &constantNumbers,
                        const DenseMap<StringAttr, int64_t> &engineNumbers)
      : module(module), constantNumbers(constantNumbers), engineNumbers(engineNumbers), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i64(builder.getI64Type()) {}

  LogicalResult convert(func::FuncOp function, StringRef symbol) {
    loc = function.getLoc();
    builder.setInsertionPoint(function);
    auto result = LLVM::LLVMFuncOp::create(builder, loc, symbol, abi::getFunctionType(builder.getContext()));
    entry = result.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    call = entry->getArgument(0);
    failed = nullptr;
    values.clear();
    asksLaunches = actsOnResults(function);
    for (auto [index, argument] : llvm::enumerate(function.getArguments()))
      if (!argument.use_empty())
        values[argument] = abi::loadArgument(builder, loc, call, index);
    if (mlir::failed(convertBlock(function.getBody().front())))
      return failure();
    LLVM::ReturnOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)));
    function.erase();
    return success();
  }

private:
  // Whether the program reads what engine functions compute, or has control flow: then a failure ends it at once.
  static bool actsOnResults(func::FuncOp function) {
    return function
        .walk([&](Operation *op) {
          bool acts = isa<executor::LoadOp>(op) || (op->getNumRegions() != 0 && op != function);
          return acts ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  //===--- Pieces ------------------------------------------------------------------------------------------------===//

  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }
  Value null() { return LLVM::ZeroOp::create(builder, loc, pointer); }
  Value compare(LLVM::ICmpPredicate predicate, Value lhs, Value rhs) {
    return LLVM::ICmpOp::create(builder, loc, predicate, lhs, rhs);
  }
  Type convertType(Type type) { return isa<MemRefType>(type) ? Type(pointer) : translate::getLLVMScalarType(type); }
  SmallVector<Value> lookup(ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return values.lookup(value); });
  }

  Block *createBlock(TypeRange arguments = {}) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types = llvm::map_to_vector(arguments, [&](Type type) { return convertType(type); });
    return builder.createBlock(entry->getParent(), entry->getParent()->end(), types,
                               SmallVector<Location>(types.size(), loc));
  }
  void branch(Block *target, ValueRange arguments) { LLVM::BrOp::create(builder, loc, arguments, target); }
  void branch(Value condition, Block *onTrue, ValueRange trueArguments, Block *onFalse, ValueRange falseArguments) {
    LLVM::CondBrOp::create(builder, loc, condition, onTrue, trueArguments, onFalse, falseArguments);
  }

  // Goes on behind this point unless `condition` holds; then the function returns 1.
  void failIf(Value condition) {
    if (!failed) {
      OpBuilder::InsertionGuard guard(builder);
      failed = createBlock();
      builder.setInsertionPointToEnd(failed);
      LLVM::ReturnOp::create(builder, loc, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1)));
    }
    Block *rest = createBlock();
    branch(condition, failed, {}, rest, {});
    builder.setInsertionPointToEnd(rest);
  }

  // Integers in memory, for a callback. The place is made once, also in loops.
  Value store(ValueRange numbers) {
    if (numbers.empty())
      return null();
    Value table;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(entry);
      table = LLVM::AllocaOp::create(builder, loc, pointer, i64, constant(numbers.size()), /*alignment=*/8);
    }
    for (auto [index, number] : llvm::enumerate(numbers))
      LLVM::StoreOp::create(builder, loc, number, at(table, 8 * static_cast<int64_t>(index)), /*alignment=*/8);
    return table;
  }

  Value at(Value base, int64_t offset) {
    return offset == 0 ? base
                       : LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                                             ArrayRef<LLVM::GEPArg>{constant(offset)})
                             .getResult();
  }

  // Extent `dimension` of a buffer.
  FailureOr<Value> extentOf(Value buffer, int64_t dimension) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.isDynamicDim(dimension))
      return constant(type.getDimSize(dimension));
    auto extents = executor::getExtents(buffer);
    if (mlir::failed(extents))
      return failure();
    if (extents->argument)
      return abi::loadArgumentExtent(builder, loc, call, extents->argument.getArgNumber(), dimension);
    return values.lookup(extents->sizes[type.getDynamicDimIndex(dimension)]);
  }

  // All extents of a type with these sizes.
  SmallVector<Value> extentsOf(MemRefType type, ValueRange sizes) {
    SmallVector<Value> result;
    for (int64_t dimension = 0, next = 0; dimension < type.getRank(); ++dimension)
      result.push_back(type.isDynamicDim(dimension) ? values.lookup(sizes[next++])
                                                    : constant(type.getDimSize(dimension)));
    return result;
  }

  // The product, the largest number where it does not fit, or -1 if an extent is negative.
  Value bytesOf(MemRefType type, ArrayRef<Value> extents) {
    if (auto bytes = executor::getByteSize(type); succeeded(bytes))
      return constant(*bytes);
    Value bytes = constant(executor::getElementBytes(type.getElementType())), isNegative;
    Value largest = constant(std::numeric_limits<int64_t>::max());
    auto pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i64, builder.getI1Type()});
    for (Value extent : extents) {
      Value product = LLVM::SMulWithOverflowOp::create(builder, loc, pair, bytes, extent);
      Value overflows = LLVM::ExtractValueOp::create(builder, loc, product, 1);
      bytes = LLVM::SelectOp::create(builder, loc, overflows, largest,
                                     LLVM::ExtractValueOp::create(builder, loc, product, 0));
      Value isLess = compare(LLVM::ICmpPredicate::slt, extent, constant(0));
      isNegative = isNegative ? LLVM::OrOp::create(builder, loc, isNegative, isLess).getResult() : isLess;
    }
    return LLVM::SelectOp::create(builder, loc, isNegative, constant(-1), bytes);
  }

  FailureOr<Value> bytesOf(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> extents;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      auto extent = extentOf(buffer, dimension);
      if (mlir::failed(extent))
        return failure();
      extents.push_back(*extent);
    }
    return bytesOf(type, extents);
  }

  // A constant of the image (reached relative to the program counter: no relocation).
  Value global(StringRef name, Type type, Attribute value) {
    if (!module.lookupSymbol(name)) {
      OpBuilder atModule = OpBuilder::atBlockBegin(module.getBody());
      LLVM::GlobalOp::create(atModule, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, value,
                             /*alignment=*/8);
    }
    return LLVM::AddressOfOp::create(builder, loc, pointer, name);
  }

  Value staticShape(MemRefType type) {
    if (type.getRank() == 0)
      return null();
    std::string name = "latewood_shape";
    for (int64_t extent : type.getShape())
      name += "_" + std::to_string(extent);
    return global(name, LLVM::LLVMArrayType::get(i64, type.getRank()),
                  DenseElementsAttr::get(RankedTensorType::get({type.getRank()}, i64), type.getShape()));
  }

  //===--- Operations --------------------------------------------------------------------------------------------===//

  // Converts a block up to its terminator.
  LogicalResult convertBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (mlir::failed(convert(&op)))
        return failure();
    return success();
  }

  LogicalResult convert(Operation *op) {
    loc = op->getLoc();
    if (Value scalar = translate::convertScalarToLLVM(builder, op, lookup(op->getOperands()))) {
      values[op->getResult(0)] = scalar;
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<executor::RequestOp, executor::ShapeOp, executor::AllocOp, executor::FreeOp, executor::CopyOp,
              executor::FillOp, executor::LoadOp, executor::StoreOp, executor::DimOp, executor::AssertOp,
              executor::LaunchOp, executor::EnqueueOp, executor::EnqueueAllocOp, scf::IfOp, scf::IndexSwitchOp,
              scf::WhileOp, scf::ForOp>([&](auto typed) { return convertOp(typed); })
        .Case([&](executor::GetConstantOp get) {
          values[get] = abi::loadConstant(builder, loc, call, constantNumbers.lookup(get.getConstantAttr().getAttr()));
          return success();
        })
        .Case([&](executor::WorkspaceOp workspace) {
          values[workspace] = at(abi::loadWorkspace(builder, loc, call), workspace.getOffset());
          return success();
        })
        .Case([&](executor::ViewOp view) {
          Value source = values.lookup(view.getSource());
          values[view] = view.getOffset() ? LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), source,
                                                                ArrayRef<LLVM::GEPArg>{values.lookup(view.getOffset())})
                                                .getResult()
                                          : source;
          return success();
        })
        .Default([](Operation *other) -> LogicalResult {
          return other->emitError() << "'" << other->getName() << "' has no native form";
        });
  }

  LogicalResult convertOp(executor::RequestOp request) {
    auto type = dyn_cast<MemRefType>(request.getType());
    if (!type)
      return request.emitError() << "an output slot that is not bufferized: " << request.getType();
    SmallVector<Value> extents = extentsOf(type, request.getSizes());
    Value bytes = bytesOf(type, extents);
    Value shape = request.getUnshaped() ? null() : type.hasStaticShape() ? staticShape(type) : store(extents);
    // Generated code assumes no more than the alignment of an element: that is what a caller's buffer has.
    Value alignment = constant(executor::getElementBytes(type.getElementType()));
    Value address =
        abi::callApi(builder, loc, call, abi::ApiEntry::Request, {constant(request.getSlot()), bytes, alignment, shape})
            .getResult();
    failIf(compare(LLVM::ICmpPredicate::eq, address, null()));
    values[request] = address;
    return success();
  }

  LogicalResult convertOp(executor::ShapeOp shape) {
    Value code = abi::callApi(builder, loc, call, abi::ApiEntry::Shape,
                              {constant(shape.getSlot()), store(lookup(shape.getExtents()))})
                     .getResult();
    failIf(
        compare(LLVM::ICmpPredicate::ne, code, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0))));
    return success();
  }

  LogicalResult convertOp(executor::AllocOp alloc) {
    auto type = cast<MemRefType>(alloc.getType());
    Value bytes = bytesOf(type, extentsOf(type, alloc.getSizes()));
    Value address = plan::isOnDevice(type)
                        ? abi::callApi(builder, loc, call, abi::ApiEntry::AllocateDevice, bytes).getResult()
                        : abi::callApi(builder, loc, call, abi::ApiEntry::Allocate, {bytes, constant(64)}).getResult();
    failIf(compare(LLVM::ICmpPredicate::eq, address, null()));
    values[alloc] = address;
    return success();
  }

  LogicalResult convertOp(executor::FreeOp free) {
    abi::callApi(builder, loc, call, abi::ApiEntry::Release, values.lookup(free.getBuffer()));
    return success();
  }

  LogicalResult convertOp(executor::CopyOp copy) {
    auto bytes = bytesOf(copy.getSource());
    if (mlir::failed(bytes))
      return copy.emitError("copies a buffer whose extents are not visible");
    // Not memcpy: a result may lie where its argument does.
    LLVM::MemmoveOp::create(builder, loc, values.lookup(copy.getTarget()), values.lookup(copy.getSource()), *bytes,
                            /*isVolatile=*/false);
    return success();
  }

  LogicalResult convertOp(executor::FillOp fill) {
    auto bytes = bytesOf(fill.getBuffer());
    if (mlir::failed(bytes))
      return fill.emitError("fills a buffer whose extents are not visible");
    auto [bits, size] = *executor::getFillPattern(fill.getValue());
    Value address = values.lookup(fill.getBuffer());
    APInt pattern(8 * static_cast<unsigned>(size), bits);
    if (pattern.isSplat(8)) {
      Value byte = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(),
                                            builder.getIntegerAttr(builder.getI8Type(), pattern.trunc(8)));
      LLVM::MemsetOp::create(builder, loc, address, byte, *bytes, /*isVolatile=*/false);
      return success();
    }
    Type element = builder.getIntegerType(pattern.getBitWidth());
    Value value = LLVM::ConstantOp::create(builder, loc, element, builder.getIntegerAttr(element, pattern));
    Block *header = createBlock(i64), *body = createBlock(), *rest = createBlock();
    branch(header, constant(0));
    builder.setInsertionPointToEnd(header);
    Value offset = header->getArgument(0);
    branch(compare(LLVM::ICmpPredicate::slt, offset, *bytes), body, {}, rest, {});
    builder.setInsertionPointToEnd(body);
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), address, ArrayRef<LLVM::GEPArg>{offset});
    LLVM::StoreOp::create(builder, loc, value, place, static_cast<unsigned>(size));
    branch(header, LLVM::AddOp::create(builder, loc, offset, constant(size)).getResult());
    builder.setInsertionPointToEnd(rest);
    return success();
  }

  LogicalResult convertOp(executor::LoadOp load) {
    Type element = cast<MemRefType>(load.getBuffer().getType()).getElementType();
    int64_t bytes = executor::getElementBytes(element);
    Value place = at(values.lookup(load.getBuffer()), static_cast<int64_t>(load.getPosition()) * bytes);
    Value value = LLVM::LoadOp::create(builder, loc, builder.getIntegerType(8 * bytes), place, bytes);
    if (element.isInteger(1))
      value =
          compare(LLVM::ICmpPredicate::ne, value, LLVM::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0)));
    values[load] = value;
    return success();
  }

  LogicalResult convertOp(executor::StoreOp store) {
    int64_t bytes = executor::getElementBytes(cast<MemRefType>(store.getBuffer().getType()).getElementType());
    Value place = at(values.lookup(store.getBuffer()), static_cast<int64_t>(store.getPosition()) * bytes);
    Value value = values.lookup(store.getValue());
    if (value.getType().isInteger(1))
      value = LLVM::ZExtOp::create(builder, loc, builder.getI8Type(), value);
    LLVM::StoreOp::create(builder, loc, value, place, bytes);
    return success();
  }

  LogicalResult convertOp(executor::DimOp dim) {
    auto extent = extentOf(dim.getBuffer(), dim.getDimension());
    if (mlir::failed(extent))
      return dim.emitError("asks for an extent that is not visible");
    values[dim] = *extent;
    return success();
  }

  LogicalResult convertOp(executor::LaunchOp launch) {
    SmallVector<Value> operands{call};
    llvm::append_range(operands, lookup(launch.getArguments()));
    operands.push_back(launch.getWorkspace() ? values.lookup(launch.getWorkspace()) : null());
    LLVM::CallOp::create(builder, loc, TypeRange(), launch.getCallee().getLeafReference(), operands);
    if (asksLaunches)
      failUnlessZero(abi::callApi(builder, loc, call, abi::ApiEntry::HasFailed, {}).getResult());
    return success();
  }

  LogicalResult convertOp(executor::AssertOp assertion) {
    Block *violated = createBlock(), *rest = createBlock();
    branch(values.lookup(assertion.getCondition()), rest, {}, violated, {});
    builder.setInsertionPointToEnd(violated);
    StringRef message = assertion.getMessage();
    Value text = global(("latewood_message_" + Twine(messages++)).str(),
                        LLVM::LLVMArrayType::get(builder.getI8Type(), std::max<size_t>(message.size(), 1)),
                        builder.getStringAttr(message.empty() ? StringRef("\0", 1) : message));
    SmallVector<Value> numbers;
    for (Value value : lookup(assertion.getValues()))
      numbers.push_back(value.getType().isInteger(1)    ? LLVM::ZExtOp::create(builder, loc, i64, value).getResult()
                        : value.getType().isInteger(64) ? value
                                                        : LLVM::SExtOp::create(builder, loc, i64, value).getResult());
    Value code = abi::callApi(builder, loc, call, abi::ApiEntry::FailFormat,
                              {text, constant(message.size()), store(numbers), constant(numbers.size())})
                     .getResult();
    LLVM::ReturnOp::create(builder, loc, code);
    builder.setInsertionPointToEnd(rest);
    return success();
  }

  //===--- Engines of vendor libraries ---------------------------------------------------------------------------===//

  void failUnlessZero(Value code) {
    failIf(
        compare(LLVM::ICmpPredicate::ne, code, LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0))));
  }

  // An array of lw_operand. A scalar is a buffer of one number.
  FailureOr<Value> storeOperands(ValueRange operands) {
    SmallVector<Value> words;
    for (Value operand : operands) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (!type) {
        Value number = values.lookup(operand);
        if (!number.getType().isInteger(64))
          number = LLVM::ZExtOp::create(builder, loc, i64, number);
        words.push_back(store(number));
        words.push_back(null());
        continue;
      }
      SmallVector<Value> extents;
      for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
        auto extent = extentOf(operand, dimension);
        if (mlir::failed(extent))
          return failure();
        extents.push_back(*extent);
      }
      words.push_back(values.lookup(operand));
      words.push_back(type.hasStaticShape() ? staticShape(type) : store(extents));
    }
    return store(words);
  }

  LogicalResult convertOp(executor::EnqueueOp run) {
    auto inputs = storeOperands(run.getInputs()), outs = storeOperands(run.getOuts());
    if (mlir::failed(inputs) || mlir::failed(outs))
      return run.emitError("takes a buffer whose extents are not visible");
    failUnlessZero(abi::callApi(builder, loc, call, abi::ApiEntry::Enqueue,
                                {constant(engineNumbers.lookup(run.getEngineAttr().getAttr())), *inputs,
                                 constant(run.getInputs().size()), *outs, constant(run.getOuts().size())})
                       .getResult());
    return success();
  }

  LogicalResult convertOp(executor::EnqueueAllocOp run) {
    auto inputs = storeOperands(run.getInputs());
    if (mlir::failed(inputs))
      return run.emitError("takes a buffer whose extents are not visible");
    SmallVector<Value> numbers;
    for (auto [slot, buffer] : llvm::zip(run.getSlots(), run.getBuffers()))
      numbers.push_back(constant(plan::isOnDevice(buffer.getType()) ? LATEWOOD_ON_DEVICE : slot));
    Value slots = store(numbers);
    Value results = store(SmallVector<Value>(2 * run.getBuffers().size(), constant(0)));
    failUnlessZero(abi::callApi(builder, loc, call, abi::ApiEntry::EnqueueAlloc,
                                {constant(engineNumbers.lookup(run.getEngineAttr().getAttr())), *inputs,
                                 constant(run.getInputs().size()), slots, results, constant(run.getBuffers().size())})
                       .getResult());
    for (auto [index, buffer] : llvm::enumerate(run.getBuffers())) {
      values[buffer] = LLVM::LoadOp::create(builder, loc, pointer, at(results, 16 * static_cast<int64_t>(index)), 8);
      auto type = cast<MemRefType>(buffer.getType());
      ValueRange extents = run.getExtentsOf(index);
      if (extents.empty())
        continue;
      Value known = LLVM::LoadOp::create(builder, loc, pointer, at(results, 16 * static_cast<int64_t>(index) + 8), 8);
      for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
        if (type.isDynamicDim(dimension))
          values[extents[type.getDynamicDimIndex(dimension)]] =
              LLVM::LoadOp::create(builder, loc, i64, at(known, 8 * dimension), 8);
    }
    return success();
  }

  //===--- Control flow ------------------------------------------------------------------------------------------===//

  void mapArguments(ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip_equal(from, to))
      values[source] = target;
  }

  LogicalResult convertOp(scf::IfOp op) {
    Block *onTrue = createBlock(), *rest = createBlock(op.getResultTypes());
    Block *onFalse = op.elseBlock() ? createBlock() : rest;
    branch(values.lookup(op.getCondition()), onTrue, {}, onFalse, {});
    for (auto [block, source] : {std::pair(onTrue, op.thenBlock()), std::pair(onFalse, op.elseBlock())}) {
      if (!source)
        continue;
      builder.setInsertionPointToEnd(block);
      if (mlir::failed(convertBlock(*source)))
        return failure();
      branch(rest, lookup(source->getTerminator()->getOperands()));
    }
    builder.setInsertionPointToEnd(rest);
    mapArguments(op.getResults(), rest->getArguments());
    return success();
  }

  LogicalResult convertOp(scf::IndexSwitchOp op) {
    Block *rest = createBlock(op.getResultTypes());
    SmallVector<Block *> cases;
    for (size_t i = 0; i < op.getCases().size(); ++i)
      cases.push_back(createBlock());
    Block *otherwise = createBlock();
    SmallVector<APInt> numbers =
        llvm::map_to_vector(op.getCases(), [](int64_t number) { return APInt(64, number, true); });
    LLVM::SwitchOp::create(builder, loc, values.lookup(op.getArg()), otherwise, ValueRange(), numbers, cases,
                           SmallVector<ValueRange>(cases.size()));
    cases.push_back(otherwise);
    SmallVector<Region *> regions = llvm::map_to_vector(op.getCaseRegions(), [](Region &region) { return &region; });
    regions.push_back(&op.getDefaultRegion());
    for (auto [block, region] : llvm::zip_equal(cases, regions)) {
      builder.setInsertionPointToEnd(block);
      if (mlir::failed(convertBlock(region->front())))
        return failure();
      branch(rest, lookup(region->front().getTerminator()->getOperands()));
    }
    builder.setInsertionPointToEnd(rest);
    mapArguments(op.getResults(), rest->getArguments());
    return success();
  }

  LogicalResult convertOp(scf::WhileOp op) {
    Block *before = createBlock(op.getBeforeBody()->getArgumentTypes());
    Block *after = createBlock(op.getAfterBody()->getArgumentTypes()), *rest = createBlock(op.getResultTypes());
    branch(before, lookup(op.getInits()));
    builder.setInsertionPointToEnd(before);
    mapArguments(op.getBeforeArguments(), before->getArguments());
    if (mlir::failed(convertBlock(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    SmallVector<Value> passed = lookup(condition.getArgs());
    branch(values.lookup(condition.getCondition()), after, passed, rest, passed);
    builder.setInsertionPointToEnd(after);
    mapArguments(op.getAfterArguments(), after->getArguments());
    if (mlir::failed(convertBlock(*op.getAfterBody())))
      return failure();
    branch(before, lookup(op.getYieldOp().getOperands()));
    builder.setInsertionPointToEnd(rest);
    mapArguments(op.getResults(), rest->getArguments());
    return success();
  }

  // The iterations are counted beforehand, so that the last step cannot wrap.
  LogicalResult convertOp(scf::ForOp op) {
    Value lower = values.lookup(op.getLowerBound()), upper = values.lookup(op.getUpperBound());
    Value step = values.lookup(op.getStep());
    Type type = lower.getType();
    auto number = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, type, IntegerAttr::get(type, value));
    };
    SmallVector<Type> carried{type, type};
    llvm::append_range(carried, op.getResultTypes());
    Block *body = createBlock(carried), *rest = createBlock(op.getResultTypes());
    Value distance = LLVM::SubOp::create(builder, loc, LLVM::SubOp::create(builder, loc, upper, lower), number(1));
    SmallVector<Value> initial{lower, LLVM::UDivOp::create(builder, loc, distance, step)};
    SmallVector<Value> inits = lookup(op.getInitArgs());
    llvm::append_range(initial, inits);
    branch(compare(LLVM::ICmpPredicate::slt, lower, upper), body, initial, rest, inits);

    builder.setInsertionPointToEnd(body);
    values[op.getInductionVar()] = body->getArgument(0);
    Value remaining = body->getArgument(1);
    mapArguments(op.getRegionIterArgs(), body->getArguments().drop_front(2));
    if (mlir::failed(convertBlock(*op.getBody())))
      return failure();
    SmallVector<Value> yielded = lookup(op.getBody()->getTerminator()->getOperands());
    SmallVector<Value> next{LLVM::AddOp::create(builder, loc, body->getArgument(0), step),
                            LLVM::SubOp::create(builder, loc, remaining, number(1))};
    llvm::append_range(next, yielded);
    branch(compare(LLVM::ICmpPredicate::eq, remaining, number(0)), rest, yielded, body, next);
    builder.setInsertionPointToEnd(rest);
    mapArguments(op.getResults(), rest->getArguments());
    return success();
  }

  ModuleOp module;
  const DenseMap<StringAttr, int64_t> &constantNumbers, &engineNumbers;
  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
  Type i64;
  Location loc = UnknownLoc::get(builder.getContext());
  Block *entry = nullptr, *failed = nullptr;
  Value call;
  unsigned messages = 0;
  bool asksLaunches = false;
  DenseMap<Value, Value> values;
};

} // namespace

FailureOr<std::vector<translate::Entry>> translate::convertExecutorToLLVM(ModuleOp module) {
  // A program that launches nothing has not needed it before.
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  DenseMap<StringAttr, int64_t> constantNumbers;
  for (auto constant : module.getOps<executor::ConstantOp>())
    constantNumbers.insert({constant.getSymNameAttr(), constantNumbers.size()});

  DenseMap<StringAttr, int64_t> engineNumbers;
  for (auto engine : module.getOps<executor::EngineOp>())
    engineNumbers.insert({engine.getSymNameAttr(), engineNumbers.size()});

  std::vector<Entry> entries;
  HostFunctionConverter converter(module, constantNumbers, engineNumbers);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    std::string symbol = "lw_entry_" + std::to_string(entries.size());
    entries.push_back({function.getName().str(), symbol});
    if (failed(converter.convert(function, symbol)))
      return failure();
  }
  if (failed(flattenEngineModules(module)))
    return failure();
  return entries;
}
