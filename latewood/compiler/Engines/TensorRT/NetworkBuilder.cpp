// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structure of a network: inputs, outputs, constants, conditionals, loops and plugins.

#include "latewood/compiler/Engines/TensorRT/NetworkBuilder.h"
#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"
#include "latewood/compiler/Engines/TensorRT/EngineWeights.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using nvinfer1::DataType;
using nvinfer1::ILayer;
using nvinfer1::ITensor;

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

std::optional<DataType> toDataType(Type type) {
  if (type.isF32())
    return DataType::kFLOAT;
  if (type.isF16())
    return DataType::kHALF;
  if (type.isBF16())
    return DataType::kBF16;
  if (isa<Float8E4M3FNType>(type))
    return DataType::kFP8;
  if (isa<Float4E2M1FNType>(type))
    return DataType::kFP4;
  if (isa<Float8E8M0FNUType>(type))
    return DataType::kE8M0;
  if (type.isIndex())
    return DataType::kINT64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return DataType::kBOOL;
  case 4:
    return integer.isUnsigned() ? std::nullopt : std::optional(DataType::kINT4);
  case 8:
    return integer.isUnsigned() ? DataType::kUINT8 : DataType::kINT8;
  case 32:
    return integer.isUnsigned() ? std::nullopt : std::optional(DataType::kINT32);
  case 64:
    return integer.isUnsigned() ? std::nullopt : std::optional(DataType::kINT64);
  default:
    return std::nullopt;
  }
}

nvinfer1::Dims toDims(ArrayRef<int64_t> extents) {
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(extents.size());
  for (auto [to, extent] : llvm::zip(dims.d, extents))
    to = ShapedType::isDynamic(extent) ? -1 : extent;
  return dims;
}

LogicalResult NetworkBuilder::build(func::FuncOp function) {
  if (failed(addInputs(function)))
    return failure();
  Block &block = function.getBody().front();
  if (failed(addBlock(block)) || failed(addOutputs(block.getTerminator())))
    return failure();
  return namesWeights ? nameWeights(function) : success();
}

LogicalResult NetworkBuilder::nameWeights(func::FuncOp function) {
  for (auto [i, op] : llvm::enumerate(getWeights(function)))
    for (auto [copy, each] : llvm::enumerate(weightsOf.lookup(op))) {
      std::string name = "w" + std::to_string(i) + (copy == 0 ? "" : "." + std::to_string(copy));
      if (!network.setWeightsName(each, name.c_str()) || !network.markWeightsRefittable(name.c_str()))
        return op.emitError("TensorRT cannot leave these weights out of an engine");
    }
  return success();
}

Operation *NetworkBuilder::findOperation(StringRef message) const {
  for (size_t at = message.find("op"); at != StringRef::npos; at = message.find("op", at + 1)) {
    StringRef digits = message.drop_front(at + 2).take_while([](char c) { return llvm::isDigit(c); });
    size_t number;
    if (!digits.empty() && (at == 0 || !llvm::isAlnum(message[at - 1])) && !digits.getAsInteger(10, number) &&
        number < operations.size())
      return operations[number];
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

LogicalResult NetworkBuilder::addInputs(func::FuncOp function) {
  for (auto [position, number] : llvm::enumerate(getNetworkInputs(function))) {
    BlockArgument argument = function.getArgument(number);
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    std::optional<DataType> type = toDataType(getElementTypeOrSelf(argument.getType()));
    if (!type || (!tensor && !argument.getType().isIntOrIndex()))
      return function.emitError() << "argument " << number << " has type " << argument.getType()
                                  << ", which TensorRT has not";
    std::string name = "in" + std::to_string(position);
    ITensor *input = network.addInput(name.c_str(), *type, toDims(tensor ? tensor.getShape() : ArrayRef<int64_t>()));
    if (!input)
      return function.emitError() << "TensorRT refuses argument " << number << " of type " << argument.getType();
    tensors[argument] = input;
  }
  return success();
}

LogicalResult NetworkBuilder::addOutputs(Operation *terminator) {
  llvm::SmallPtrSet<ITensor *, 8> taken;
  for (auto [number, value] : llvm::enumerate(terminator->getOperands())) {
    ITensor *tensor = &get(value);
    // An output is a tensor of its own: neither an input, nor another output.
    if (tensor->isNetworkInput() || !taken.insert(tensor).second) {
      ILayer *copy = network.addIdentity(*tensor);
      if (!copy)
        return terminator->emitError() << "TensorRT refuses result " << number;
      tensor = copy->getOutput(0);
    }
    tensor->setName(("out" + std::to_string(number)).c_str());
    network.markOutput(*tensor);
  }
  return success();
}

LogicalResult NetworkBuilder::addBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(addOperation(&op)))
      return failure();
  return success();
}

LogicalResult NetworkBuilder::addOperation(Operation *op) {
  // A scalar of the host is an input without dimensions.
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
    tensors[cast.getResult(0)] = tensors.lookup(cast.getOperand(0));
    return success();
  }
  if (auto conditional = dyn_cast<IfOp>(op))
    return add(conditional);
  if (auto loop = dyn_cast<WhileOp>(op))
    return add(loop);
  if (auto loop = dyn_cast<ForOp>(op))
    return add(loop);
  if (auto plugin = dyn_cast<OpaquePluginOp>(op))
    return add(plugin);
  return finish(op, addLayer(op));
}

LogicalResult NetworkBuilder::finish(Operation *op, ILayer *layer) {
  if (!layer)
    return op->emitError() << "TensorRT has no layer for this operation, or refuses its operands";
  layer->setName(("op" + std::to_string(operations.size())).c_str());
  operations.push_back(op);
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    ITensor *tensor = layer->getOutput(static_cast<int32_t>(number));
    if (!tensor)
      return op->emitError() << "TensorRT's layer has no output " << number;
    if (failed(define(op, result, tensor)))
      return failure();
  }
  return success();
}

/// TensorRT works the types of a network out backwards from its outputs, and TensorRT-RTX then loses them in loops
/// ("invalid inferred type"). It keeps what it was asked for: so every tensor is asked for its type where it is made,
/// which also shows that both sides agree on it.
LogicalResult NetworkBuilder::define(Operation *op, Value value, ITensor *tensor) {
  if (tensor->getType() != *toDataType(getElementTypeOrSelf(value.getType())))
    return op->emitError() << "TensorRT finds another element type than that of " << value.getType();
  tensors[value] = tensor;
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

nvinfer1::Weights NetworkBuilder::keep(DenseElementsAttr value) {
  std::optional<DataType> type = toDataType(value.getElementType());
  ArrayRef<char> raw = value.getRawData();
  int64_t count = value.getNumElements();
  unsigned bits = value.getElementType().getIntOrFloatBitWidth();
  std::vector<char> &bytes = weights.emplace_back();
  if (value.isSplat())
    for (int64_t i = 0; i < count; ++i)
      bytes.insert(bytes.end(), raw.begin(), raw.end());
  else
    bytes.assign(raw.begin(), raw.end());
  if (bits == 4) {
    // Two elements in a byte, the first one in the low half.
    for (int64_t i = 0; i < count; i += 2)
      bytes[i / 2] = char((bytes[i] & 15) | (i + 1 < count ? (bytes[i + 1] & 15) << 4 : 0));
    bytes.resize((count + 1) / 2);
  }
  return {*type, bytes.data(), count};
}

nvinfer1::Weights NetworkBuilder::keepConstant(Value value) {
  auto op = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  DenseElementsAttr elements = op ? getElements(op) : DenseElementsAttr();
  if (!elements)
    return {value ? *toDataType(getElementTypeOrSelf(value.getType())) : DataType::kFLOAT, nullptr, 0};
  nvinfer1::Weights kept = keep(elements);
  weightsOf[op].push_back(kept);
  return kept;
}

ILayer *NetworkBuilder::addConstant(ConstantOp op) {
  DenseElementsAttr value = getElements(op);
  if (!value)
    return nullptr;
  // There are no constants of i1; those of i8 are quantized ones, and are for dequantize layers.
  Type element = value.getElementType();
  bool isQuantized = llvm::all_of(op->getUsers(), llvm::IsaPred<DequantizeOp, OpaquePluginOp>);
  if (element.isInteger(1) || (element.isInteger(8) && !isQuantized))
    return addConverted(value);
  return network.addConstant(toDims(value.getType().getShape()), keepConstant(op.getResult()));
}

ILayer *NetworkBuilder::addConverted(DenseElementsAttr value) {
  ArrayRef<int64_t> shape = value.getType().getShape();
  bool isBool = value.getElementType().isInteger(1);
  SmallVector<int32_t> numbers;
  for (const APInt &element : value.getValues<APInt>())
    numbers.push_back(static_cast<int32_t>(isBool ? element.getZExtValue() : element.getSExtValue()));
  auto type = RankedTensorType::get(shape, IntegerType::get(value.getContext(), 32));
  ILayer *integers = network.addConstant(toDims(shape), keep(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers))));
  return integers ? network.addCast(*integers->getOutput(0), isBool ? DataType::kBOOL : DataType::kINT8) : nullptr;
}

ITensor *NetworkBuilder::constantVector(ArrayRef<int64_t> values) {
  std::vector<char> &bytes = weights.emplace_back(values.size() * sizeof(int64_t));
  llvm::copy(values, reinterpret_cast<int64_t *>(bytes.data()));
  int64_t count = values.size();
  return network.addConstant(toDims(count), {DataType::kINT64, bytes.data(), count})->getOutput(0);
}

ITensor *NetworkBuilder::constantScalar(int64_t value, DataType type) {
  std::vector<char> &bytes = weights.emplace_back(sizeof(int64_t));
  if (type == DataType::kINT32)
    *reinterpret_cast<int32_t *>(bytes.data()) = static_cast<int32_t>(value);
  else
    *reinterpret_cast<int64_t *>(bytes.data()) = value;
  return network.addConstant(toDims({}), {type, bytes.data(), 1})->getOutput(0);
}

ITensor *NetworkBuilder::binary(ITensor *lhs, ITensor *rhs, nvinfer1::ElementWiseOperation operation) {
  ILayer *layer = network.addElementWise(*lhs, *rhs, operation);
  return layer ? layer->getOutput(0) : nullptr;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

#ifdef LATEWOOD_TENSORRT_RTX
constexpr bool isRTX = true;
#else
constexpr bool isRTX = false;
#endif

/// TensorRT-RTX fails on a conditional in a loop in a conditional (an assertion about scopes).
static bool isNestedTooDeep(IfOp op) {
  Operation *loop = op->getParentOfType<WhileOp>();
  if (!loop)
    loop = op->getParentOfType<ForOp>();
  bool holdsLoop = op->walk([](Operation *inner) {
                       return isa<WhileOp, ForOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
                     }).wasInterrupted();
  return loop && loop->getParentOfType<IfOp>() && !holdsLoop;
}

/// Both branches, of which a select takes one: layers have no effects.
LogicalResult NetworkBuilder::addSelected(IfOp op) {
  Block &yes = op.getTrueRegion().front(), &no = op.getFalseRegion().front();
  if (failed(addBlock(yes)) || failed(addBlock(no)))
    return failure();
  for (auto [first, second, result] :
       llvm::zip(yes.getTerminator()->getOperands(), no.getTerminator()->getOperands(), op.getResults())) {
    auto *condition = network.addShuffle(get(op.getCondition()));
    condition->setReshapeDimensions(
        toDims(SmallVector<int64_t>(cast<RankedTensorType>(result.getType()).getRank(), 1)));
    ILayer *select = network.addSelect(*condition->getOutput(0), get(first), get(second));
    if (!select)
      return op.emitError("TensorRT refuses a result of the branches");
    if (failed(define(op, result, select->getOutput(0))))
      return failure();
  }
  return success();
}

LogicalResult NetworkBuilder::add(IfOp op) {
  if (isRTX && isNestedTooDeep(op))
    return addSelected(op);
  nvinfer1::IIfConditional *conditional = network.addIfConditional();
  if (!conditional || !conditional->setCondition(get(op.getCondition())))
    return op.emitError("TensorRT refuses the condition");
  // What the branches use from outside comes in through layers of the conditional.
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  auto outside = tensors;
  for (Value value : captured) {
    ILayer *input = conditional->addInput(get(value));
    if (!input)
      return op.emitError("TensorRT refuses a value that a branch uses");
    tensors[value] = input->getOutput(0);
  }
  for (Region *region : {&op.getTrueRegion(), &op.getFalseRegion()})
    if (failed(addBlock(region->front())))
      return failure();
  SmallVector<ITensor *> results;
  for (auto [yes, no] : llvm::zip(op.getTrueRegion().front().getTerminator()->getOperands(),
                                  op.getFalseRegion().front().getTerminator()->getOperands())) {
    ILayer *output = conditional->addOutput(get(yes), get(no));
    if (!output)
      return op.emitError("TensorRT refuses a result of the branches");
    results.push_back(output->getOutput(0));
  }
  tensors = std::move(outside);
  for (auto [result, tensor] : llvm::zip(op.getResults(), results))
    tensors[result] = tensor;
  return success();
}

/// TensorRT-RTX mixes up the layouts of a value that a loop begins with and of a transposed one that it is ("a tensor
/// and the lead of its alias congruence class disagree"). Negated twice it is another tensor with the same elements;
/// copies are optimized away.
ITensor *NetworkBuilder::copyTransposed(Value value) {
  ITensor *tensor = &get(value);
  auto shuffle = value.getDefiningOp<ShuffleOp>();
  bool isTransposed =
      value.getDefiningOp<TransposeOp>() || (shuffle && (shuffle.getFirstTranspose() || shuffle.getSecondTranspose()));
  if (!isRTX || !isTransposed || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return tensor;
  for (int i = 0; i < 2; ++i)
    if (ILayer *negated = network.addUnary(*tensor, nvinfer1::UnaryOperation::kNEG))
      tensor = negated->getOutput(0);
  return tensor;
}

LogicalResult NetworkBuilder::addRecurrence(Operation *op, nvinfer1::ILoop &loop, Value initial, Value argument,
                                            SmallVectorImpl<nvinfer1::IRecurrenceLayer *> &recurrences) {
  recurrences.push_back(loop.addRecurrence(*copyTransposed(initial)));
  if (!recurrences.back())
    return op->emitError("TensorRT refuses a value that the loop begins with");
  return define(op, argument, recurrences.back()->getOutput(0));
}

LogicalResult NetworkBuilder::addLoopBody(Operation *op, nvinfer1::ILoop &loop,
                                          ArrayRef<nvinfer1::IRecurrenceLayer *> recurrences, Block &body) {
  if (failed(addBlock(body)))
    return failure();
  for (auto [recurrence, next, result] :
       llvm::zip(recurrences, body.getTerminator()->getOperands(), op->getResults())) {
    recurrence->setInput(1, get(next));
    if (result.use_empty())
      continue;
    ILayer *output = loop.addLoopOutput(*recurrence->getOutput(0), nvinfer1::LoopOutput::kLAST_VALUE);
    if (!output)
      return op->emitError("TensorRT refuses a result of the loop");
    tensors[result] = output->getOutput(0);
  }
  return success();
}

LogicalResult NetworkBuilder::add(WhileOp op) {
  Block &before = op.getCondRegion().front(), &body = op.getBodyRegion().front();
  auto condition = cast<ConditionOp>(before.getTerminator());
  // A result is the last value of a recurrence: what the condition passes on must be its arguments.
  for (auto [passed, argument] : llvm::zip(condition.getArgs(), before.getArguments()))
    if (passed != argument)
      return condition.emitError("TensorRT's loops pass on what the condition was given, unchanged");
  nvinfer1::ILoop *loop = network.addLoop();
  SmallVector<nvinfer1::IRecurrenceLayer *> recurrences;
  for (auto [initial, argument, carried] : llvm::zip(op.getOperands(), before.getArguments(), body.getArguments())) {
    if (failed(addRecurrence(op, *loop, initial, argument, recurrences)))
      return failure();
    tensors[carried] = recurrences.back()->getOutput(0);
  }
  if (failed(addBlock(before)))
    return failure();
  if (!loop->addTripLimit(get(condition.getCondition()), nvinfer1::TripLimit::kWHILE))
    return op.emitError("TensorRT refuses the condition");
  return addLoopBody(op, *loop, recurrences, body);
}

LogicalResult NetworkBuilder::add(ForOp op) {
  Block &body = op.getBodyRegion().front();
  DataType type = *toDataType(getElementTypeOrSelf(op.getLb().getType()));
  // Trips: (ub - lb + step - 1) / step, and not less than 0.
  ITensor *one = constantScalar(1, type), *zero = constantScalar(0, type);
  ITensor *step = &get(op.getStep());
  ITensor *span = binary(&get(op.getUb()), &get(op.getLb()), nvinfer1::ElementWiseOperation::kSUB);
  ITensor *rounded =
      binary(binary(span, step, nvinfer1::ElementWiseOperation::kSUM), one, nvinfer1::ElementWiseOperation::kSUB);
  ITensor *trips = binary(binary(rounded, step, nvinfer1::ElementWiseOperation::kFLOOR_DIV), zero,
                          nvinfer1::ElementWiseOperation::kMAX);
  nvinfer1::ILoop *loop = network.addLoop();
  if (!loop->addTripLimit(*trips, nvinfer1::TripLimit::kCOUNT))
    return op.emitError("TensorRT refuses the number of iterations");
  nvinfer1::IRecurrenceLayer *counter = loop->addRecurrence(get(op.getLb()));
  counter->setInput(1, *binary(counter->getOutput(0), step, nvinfer1::ElementWiseOperation::kSUM));
  tensors[body.getArgument(0)] = counter->getOutput(0);
  SmallVector<nvinfer1::IRecurrenceLayer *> recurrences;
  for (auto [initial, argument] : llvm::zip(op.getInit(), body.getArguments().drop_front()))
    if (failed(addRecurrence(op, *loop, initial, argument, recurrences)))
      return failure();
  return addLoopBody(op, *loop, recurrences, body);
}

//===----------------------------------------------------------------------===//
// Plugins
//===----------------------------------------------------------------------===//

#ifdef LATEWOOD_TENSORRT_RTX
LogicalResult NetworkBuilder::add(OpaquePluginOp op) { return op.emitError("TensorRT-RTX has no plugins"); }
#else
namespace {
/// Fields for a plugin's creator, and their memory.
struct PluginFields {
  LogicalResult add(OpaquePluginOp op, NamedAttribute attribute) {
    names.push_back(attribute.getName().str());
    using Kind = nvinfer1::PluginFieldType;
    auto put = [&](Kind kind, const void *data, size_t bytes, size_t count) {
      auto &memory = values.emplace_back(static_cast<const char *>(data), static_cast<const char *>(data) + bytes);
      fields.push_back({names.back().c_str(), memory.data(), kind, static_cast<int32_t>(count)});
      return success();
    };
    auto putArray = [&](Kind kind, auto array) {
      return put(kind, array.data(), array.size() * sizeof(array[0]), array.size());
    };
    Attribute value = attribute.getValue();
    if (auto text = dyn_cast<StringAttr>(value))
      return put(Kind::kCHAR, text.data(), text.size(), text.size());
    if (auto type = dyn_cast<TypeAttr>(value)) {
      auto number = toDataType(type.getValue());
      int32_t word = number ? static_cast<int32_t>(*number) : -1;
      return put(Kind::kINT32, &word, sizeof word, 1);
    }
    if (auto integer = dyn_cast<IntegerAttr>(value)) {
      int64_t wide = integer.getValue().getSExtValue();
      auto narrow = static_cast<int32_t>(wide);
      return integer.getType().isInteger(64) ? put(Kind::kINT64, &wide, 8, 1) : put(Kind::kINT32, &narrow, 4, 1);
    }
    if (auto number = dyn_cast<FloatAttr>(value)) {
      double wide = number.getValueAsDouble();
      auto narrow = static_cast<float>(wide);
      return number.getType().isF64() ? put(Kind::kFLOAT64, &wide, 8, 1) : put(Kind::kFLOAT32, &narrow, 4, 1);
    }
    if (auto array = dyn_cast<DenseI64ArrayAttr>(value))
      return putArray(Kind::kINT64, array.asArrayRef());
    if (auto array = dyn_cast<DenseI32ArrayAttr>(value))
      return putArray(Kind::kINT32, array.asArrayRef());
    if (auto array = dyn_cast<DenseF32ArrayAttr>(value))
      return putArray(Kind::kFLOAT32, array.asArrayRef());
    return op.emitError() << "field '" << attribute.getName().getValue()
                          << "' has a form that plugins do not take: " << value;
  }

  std::deque<std::string> names;
  std::deque<std::vector<char>> values;
  std::vector<nvinfer1::PluginField> fields;
};
} // namespace

LogicalResult NetworkBuilder::add(OpaquePluginOp op) {
  nvinfer1::IPluginRegistry &registry = network.getBuilder().getPluginRegistry();
  if (auto path = op.getDsoPath(); path && !registry.loadLibrary(path->str().c_str()))
    return op.emitError() << "TensorRT cannot load plugins from '" << *path << "'";
  auto *creator = static_cast<nvinfer1::IPluginCreatorV3One *>(registry.getCreator(
      op.getPluginName().str().c_str(), op.getPluginVersion().str().c_str(), op.getPluginNamespace().str().c_str()));
  if (!creator)
    return op.emitError() << "no plugin '" << op.getPluginName() << "', version '" << op.getPluginVersion()
                          << "', namespace '" << op.getPluginNamespace() << "', is registered";
  PluginFields fields;
  for (NamedAttribute attribute : op.getCreatorParams())
    if (failed(fields.add(op, attribute)))
      return failure();
  nvinfer1::PluginFieldCollection collection{static_cast<int32_t>(fields.fields.size()), fields.fields.data()};
  std::unique_ptr<nvinfer1::IPluginV3> plugin(
      creator->createPlugin(op.getPluginName().str().c_str(), &collection, nvinfer1::TensorRTPhase::kBUILD));
  if (!plugin)
    return op.emitError() << "the creator of plugin '" << op.getPluginName() << "' refuses its fields";
  Tensors inputs;
  for (Value input : op.getInputs())
    inputs.push_back(&get(input));
  auto shapes = static_cast<int32_t>(op.getNumShapeInputs());
  int32_t others = static_cast<int32_t>(inputs.size()) - shapes;
  return finish(op, network.addPluginV3(inputs.data(), others, inputs.data() + others, shapes, *plugin));
}
#endif

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt
