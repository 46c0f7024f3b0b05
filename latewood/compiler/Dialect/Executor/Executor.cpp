// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect: verifiers, and how a request for an output slot becomes a buffer. The constraints are
// numbered in ExecutorOps.td and ScalarOps.td.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace latewood::executor;

#include "latewood/compiler/Dialect/Executor/ExecutorDialect.cpp.inc"
#include "latewood/compiler/Dialect/Executor/ExecutorEnums.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Executor/ExecutorOps.cpp.inc"

void ExecutorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/Executor/ExecutorOps.cpp.inc"
      >();
}

Operation *ExecutorDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto typed = dyn_cast<IntegerAttr>(value);
  return typed && typed.getType() == type ? ScalarOp::create(builder, loc, typed) : nullptr;
}

// Pairs of an argument and a result: `executor.donated`, `executor.same_address`.
static LogicalResult verifyPairs(Operation *op, NamedAttribute attribute) {
  auto pairs = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (!pairs || pairs.size() % 2 != 0)
    return op->emitError() << "attribute '" << attribute.getName().getValue()
                           << "' needs an array of pairs, array<i64: argument, result, …>";
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto results = op->getAttrOfType<ArrayAttr>(ExecutorDialect::getResultsAttrName());
  for (int64_t i = 0; function && i < pairs.size(); i += 2)
    if (pairs[i] < 0 || pairs[i] >= function.getNumArguments() || pairs[i + 1] < 0 ||
        (results && pairs[i + 1] >= static_cast<int64_t>(results.size())))
      return op->emitError() << "attribute '" << attribute.getName().getValue() << "' names argument " << pairs[i]
                             << " and result " << pairs[i + 1] << ", which do not both exist";
  return success();
}

LogicalResult ExecutorDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getHostAttrName()) {
    auto host = dyn_cast<StringAttr>(attribute.getValue());
    if (!host || (host.getValue() != "native" && host.getValue() != "lua"))
      return op->emitError() << "attribute '" << name << "' is \"native\" or \"lua\"";
  } else if (name == getResultsAttrName()) {
    auto types = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!types)
      return op->emitError() << "attribute '" << name << "' needs an array of types";
    for (auto [index, element] : llvm::enumerate(types)) {
      auto type = dyn_cast<TypeAttr>(element);
      auto memref = type ? dyn_cast<MemRefType>(type.getValue()) : MemRefType();
      if (!memref || failed(normalizeLayout(memref)))
        return op->emitError()
               << "result " << index
               << " needs a memref type with the identity layout: results are row-major with offset 0, got " << element;
    }
  } else if (name == getDonatedAttrName() || name == getSameAddressAttrName()) {
    return verifyPairs(op, attribute);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t latewood::executor::getElementBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getElementBytes(complex.getElementType());
  if (isa<IndexType>(element))
    return 8;
  if (!element.isIntOrFloat())
    return 0;
  return static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)));
}

FailureOr<int64_t> latewood::executor::getByteSize(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return failure();
  int64_t bytes = getElementBytes(type.getElementType());
  if (bytes == 0)
    return failure();
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return failure();
  return bytes;
}

FailureOr<MemRefType> latewood::executor::normalizeLayout(MemRefType type) {
  auto result =
      MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
  if (type.getLayout().isIdentity())
    return result;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return failure();
  if (llvm::is_contained(type.getShape(), 0))
    return result;
  int64_t expected = 1;
  for (auto [stride, extent] : llvm::reverse(llvm::zip_equal(strides, type.getShape()))) {
    if (extent != 1 && (stride != expected || ShapedType::isDynamic(expected)))
      return failure();
    // What lies further out has a stride that is unknown here.
    expected = ShapedType::isDynamic(extent) ? ShapedType::kDynamic : expected * extent;
  }
  return result;
}

unsigned latewood::executor::getScalarWidth(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

FailureOr<Extents> latewood::executor::getExtents(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return Extents{argument, {}};
    return failure();
  }
  if (auto request = buffer.getDefiningOp<RequestOp>())
    return Extents{{}, request.getSizes()};
  if (auto alloc = buffer.getDefiningOp<AllocOp>())
    return Extents{{}, alloc.getSizes()};
  if (auto view = buffer.getDefiningOp<ViewOp>())
    return Extents{{}, view.getSizes()};
  if (auto run = buffer.getDefiningOp<EnqueueAllocOp>())
    return Extents{{}, run.getExtentsOf(cast<OpResult>(buffer).getResultNumber())};
  return failure();
}

FailureOr<std::pair<uint64_t, int64_t>> latewood::executor::getFillPattern(TypedAttr value) {
  int64_t bytes = getElementBytes(value.getType());
  APInt bits(1, 0);
  if (auto integer = dyn_cast<IntegerAttr>(value))
    bits = integer.getValue();
  else if (auto number = dyn_cast<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt();
  else
    return failure();
  if (bytes == 0 || bytes > 8)
    return failure();
  return std::make_pair(bits.getZExtValue(), bytes);
}

// A buffer of known size and canonical layout.
static LogicalResult verifySized(Operation *op, Type type) {
  if (failed(getByteSize(cast<MemRefType>(type))))
    return op->emitOpError() << "needs a buffer with a static shape and the identity layout, got " << type;
  return success();
}

// A buffer whose size follows from its extents.
static LogicalResult verifyCanonical(Operation *op, Type type) {
  auto memref = cast<MemRefType>(type);
  if (!memref.getLayout().isIdentity() || getElementBytes(memref.getElementType()) == 0 ||
      (memref.hasStaticShape() && failed(getByteSize(memref))))
    return op->emitOpError() << "needs a buffer with the identity layout whose elements have a form in memory, got "
                             << type;
  return success();
}

static LogicalResult verifySizes(Operation *op, Type type, ValueRange sizes) {
  auto shaped = cast<ShapedType>(type);
  if (sizes.size() != static_cast<size_t>(shaped.getNumDynamicDims()))
    return op->emitOpError() << "has " << sizes.size() << " sizes for " << shaped.getNumDynamicDims()
                             << " dynamic dimensions";
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

LogicalResult ScalarOp::verify() {
  // (C1)
  if (!isa<IntegerAttr>(getValue()))
    return emitOpError() << "needs an integer, got " << getValue();
  return success();
}

OpFoldResult ScalarOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// Output slots
//===----------------------------------------------------------------------===//

static LogicalResult verifySlot(Operation *op, uint64_t slot) {
  if (static_cast<int64_t>(slot) < 0)
    return op->emitOpError() << "has the negative slot " << static_cast<int64_t>(slot);
  return success();
}

LogicalResult RequestOp::verify() {
  auto shaped = cast<ShapedType>(getType());
  // (C1)
  if (!shaped.hasRank())
    return emitOpError() << "needs a ranked type, got " << shaped;
  if (auto memref = dyn_cast<MemRefType>(getType()); memref && !memref.getLayout().isIdentity())
    return emitOpError() << "needs the identity layout: results are row-major with offset 0, got " << memref;
  // (C2)
  if (failed(verifySlot(*this, getSlot())))
    return failure();
  // (C3)
  if (failed(verifySizes(*this, getType(), getSizes())))
    return failure();
  // (C4)
  if (getUnshaped() && shaped.hasStaticShape())
    return emitOpError() << "is unshaped, but " << shaped << " has a static shape";
  // (C5)
  if (getElementBytes(shaped.getElementType()) == 0)
    return emitOpError() << "has elements of type " << shaped.getElementType() << ", which has no form in memory";
  return success();
}

// Not pure, in either form: two requests must not be merged, and one must not be dropped or moved into a branch.
void RequestOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  if (isa<BaseMemRefType>(getType()))
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}

// The contents are undefined, so nothing is lost by writing over them.
bool RequestOp::resultBufferizesToMemoryWrite(OpResult, const bufferization::AnalysisState &) { return false; }

// The memory belongs to the slot: bufferization must not free it, and it may leave a block.
bool RequestOp::bufferizesToAllocation(Value) { return false; }

FailureOr<bufferization::BufferLikeType> RequestOp::getBufferType(Value value,
                                                                  const bufferization::BufferizationOptions &,
                                                                  const bufferization::BufferizationState &,
                                                                  SmallVector<Value> &) {
  auto type = cast<RankedTensorType>(value.getType());
  return cast<bufferization::BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
}

LogicalResult RequestOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                   bufferization::BufferizationState &state) {
  SmallVector<Value> invocationStack;
  auto type = getBufferType(getResult(), options, state, invocationStack);
  if (failed(type))
    return failure();
  Value buffer = RequestOp::create(rewriter, getLoc(), *type, getSlotAttr(), getSizes(), getUnshapedAttr());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, buffer);
  return success();
}

LogicalResult ShapeOp::verify() {
  // (C1)
  return verifySlot(*this, getSlot());
}

void ShapeOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult GetConstantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  auto constant = symbols.lookupNearestSymbolFrom<ConstantOp>(*this, getConstantAttr());
  if (!constant)
    return emitOpError() << "names " << getConstantAttr() << ", which is no executor.constant";
  auto type = cast<MemRefType>(getType());
  ShapedType value = constant.getValue().getShapedType();
  if (value.getShape() != type.getShape() || value.getElementType() != type.getElementType())
    return emitOpError() << "has type " << type << " where the constant is " << value;
  return success();
}

LogicalResult WorkspaceOp::verify() {
  // (C1)
  auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || offset % 64 != 0)
    return emitOpError() << "needs an offset that is a multiple of 64, got " << offset;
  // (C2)
  return verifySized(*this, getType());
}

LogicalResult AllocOp::verify() {
  // (C1)
  if (failed(verifyCanonical(*this, getType())))
    return failure();
  // (C2)
  return verifySizes(*this, getType(), getSizes());
}

LogicalResult FreeOp::verify() {
  // (C1)
  Operation *op = getBuffer().getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(getBuffer());
  bool isCarried = argument ? !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) : op->getNumRegions() != 0;
  if (!isCarried && !isa_and_present<AllocOp, EnqueueAllocOp>(op))
    return emitOpError() << "needs a buffer that executor.alloc made, or that control flow carries";
  return success();
}

LogicalResult ViewOp::verify() {
  auto source = cast<MemRefType>(getSource().getType()), result = cast<MemRefType>(getType());
  // (C1)
  if (failed(verifyCanonical(*this, source)) || failed(verifyCanonical(*this, result)))
    return failure();
  // (C2)
  if (failed(verifySizes(*this, result, getSizes())))
    return failure();
  // (C3)
  if (!getOffset() && source.hasStaticShape() && result.hasStaticShape() && *getByteSize(result) > *getByteSize(source))
    return emitOpError() << "sees " << *getByteSize(result) << " bytes of a buffer of " << *getByteSize(source);
  return success();
}

LogicalResult DimOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  auto dimension = static_cast<int64_t>(getDimension());
  // (C1)
  if (dimension < 0 || dimension >= type.getRank())
    return emitOpError() << "asks for dimension " << dimension << " of " << type;
  // (C2)
  if (type.isDynamicDim(dimension) && failed(getExtents(getBuffer())))
    return emitOpError() << "asks for an extent that is not visible: the buffer is no argument of the function, and no "
                            "operation with sizes made it";
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  auto type = cast<MemRefType>(getBuffer().getType());
  auto dimension = static_cast<int64_t>(getDimension());
  if (!type.isDynamicDim(dimension))
    return IntegerAttr::get(IndexType::get(getContext()), type.getDimSize(dimension));
  auto extents = getExtents(getBuffer());
  if (failed(extents) || extents->argument)
    return {};
  return extents->sizes[type.getDynamicDimIndex(dimension)];
}

// The host reads and writes its own memory; the device's is for engines.
static LogicalResult verifyOnHost(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto memref = dyn_cast<MemRefType>(type); memref && memref.getMemorySpace())
      return op->emitOpError() << "needs memory of the host, got " << type;
  return success();
}

// What executor.load and executor.store share.
static LogicalResult verifyElement(Operation *op, Type buffer, int64_t position, Type value) {
  auto type = cast<MemRefType>(buffer);
  // (C1)
  if (failed(verifyOnHost(op, buffer)) || failed(verifySized(op, type)))
    return failure();
  // (C2)
  if (position < 0 || position >= type.getNumElements())
    return op->emitOpError() << "names element " << position << " of the " << type.getNumElements() << " of " << type;
  // (C3)
  Type element = type.getElementType();
  bool isWhole = element.isInteger(1) || isa<IndexType>(element) ||
                 (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() % 8 == 0);
  if (!isWhole || getScalarWidth(element) != getScalarWidth(value))
    return op->emitOpError() << "reads or writes elements of type " << element << " as " << value;
  return success();
}

LogicalResult LoadOp::verify() { return verifyElement(*this, getBuffer().getType(), getPosition(), getType()); }

LogicalResult StoreOp::verify() {
  return verifyElement(*this, getBuffer().getType(), getPosition(), getValue().getType());
}

LogicalResult CopyOp::verify() {
  // (C1)
  return failed(verifyOnHost(*this, getSource().getType())) ? failure() : verifyCanonical(*this, getSource().getType());
}

LogicalResult FillOp::verify() {
  // (C1)
  if (failed(verifyOnHost(*this, getBuffer().getType())) || failed(verifyCanonical(*this, getBuffer().getType())))
    return failure();
  // (C2)
  Type element = cast<MemRefType>(getBuffer().getType()).getElementType();
  if (getValue().getType() != element || failed(getFillPattern(getValue())))
    return emitOpError() << "needs a number of type " << element << " that takes 1, 2, 4 or 8 bytes, got "
                         << getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Engines and failures
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  auto callee = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(*this, getCallee());
  if (!callee)
    return emitOpError() << "names " << getCallee() << ", which is no function of an image";
  auto isPointer = [](Type type) { return isa<LLVM::LLVMPointerType>(type); };
  ArrayRef<Type> types = callee.getArgumentTypes();
  bool matches = types.size() == getArguments().size() + 2 && isPointer(types.front()) && isPointer(types.back()) &&
                 isa<LLVM::LLVMVoidType>(callee.getFunctionType().getReturnType());
  for (size_t i = 0; matches && i < getArguments().size(); ++i) {
    Type given = getArguments()[i].getType(), taken = types[i + 1];
    matches = isa<MemRefType>(given) ? isPointer(taken) : taken.isInteger(getScalarWidth(given));
  }
  if (!matches)
    return emitOpError()
           << "has " << getArguments().size() << " operands where " << getCallee() << " has type "
           << callee.getFunctionType()
           << "; it must take the call frame, a pointer for each buffer, an integer for each scalar, and a workspace";
  return success();
}

LogicalResult AssertOp::verify() {
  // (C1)
  StringRef rest = getMessage();
  while (true) {
    size_t brace = rest.find('{');
    if (brace == StringRef::npos)
      return success();
    rest = rest.drop_front(brace + 1);
    StringRef digits = rest.take_while([](char c) { return llvm::isDigit(c); });
    unsigned number = 0;
    if (digits.empty() || !rest.drop_front(digits.size()).starts_with("}"))
      continue;
    if (digits.getAsInteger(10, number) || number >= getValues().size())
      return emitOpError() << "has a message with {" << digits << "} and " << getValues().size() << " values";
  }
}

//===----------------------------------------------------------------------===//
// Engines of vendor libraries
//===----------------------------------------------------------------------===//

LogicalResult EngineOp::verify() {
  // (C1)
  if (!getSerialized().getShapedType().getElementType().isInteger(8))
    return emitOpError() << "needs a serialized form of i8, got " << getSerialized().getShapedType();
  return success();
}

// (C1) of both runs.
static LogicalResult verifyEngine(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<EngineOp>(op, name))
    return op->emitOpError() << "runs " << name << ", which is no engine";
  return success();
}

// (C2) of both runs.
static LogicalResult verifyBuffers(Operation *op, TypeRange types) {
  for (Type type : types)
    if (isa<MemRefType>(type) && failed(verifyCanonical(op, type)))
      return failure();
  return success();
}

LogicalResult EnqueueOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyEngine(*this, getEngineAttr(), symbols);
}

LogicalResult EnqueueOp::verify() { return verifyBuffers(*this, getOperandTypes()); }

LogicalResult EnqueueAllocOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyEngine(*this, getEngineAttr(), symbols);
}

LogicalResult EnqueueAllocOp::verify() {
  if (failed(verifyBuffers(*this, getOperandTypes())) || failed(verifyBuffers(*this, getBuffers().getTypes())))
    return failure();
  // (C3)
  int64_t extents = 0;
  for (Type type : getBuffers().getTypes())
    extents += cast<MemRefType>(type).getNumDynamicDims();
  if (getSlots().size() != getBuffers().size() || int64_t(getExtents().size()) != extents)
    return emitOpError() << "needs " << getBuffers().size() << " slots and " << extents << " extents, got "
                         << getSlots().size() << " and " << getExtents().size();
  return success();
}

ValueRange EnqueueAllocOp::getExtentsOf(unsigned index) {
  int64_t first = 0;
  for (Value buffer : getBuffers().take_front(index))
    first += cast<MemRefType>(buffer.getType()).getNumDynamicDims();
  return getExtents().slice(first, cast<MemRefType>(getBuffers()[index].getType()).getNumDynamicDims());
}
