// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass SplitComplex: each complex tensor becomes two real ones.
//
// In: functions with StableHLO and CHLO on static shapes. Out: complex tensors are arguments and results of functions,
// and the only operations on them are stablehlo.real and stablehlo.imag of arguments and stablehlo.complex of results.
//
// The pass walks each function once, in order, and keeps the parts of every complex value that it has met. Operations
// fall into four kinds:
//   elementwise            their formula (SplitComplexFunctions.cpp)
//   data movement          done twice, once a part
//   products               four real products
//   regions and passing    the same operation with two operands, results and block arguments where there was one
// Old operations stay until the end, since later ones still name their results; then they go, last first.

#include "latewood/compiler/Input/SplitComplex.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_SPLITCOMPLEXPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

bool isComplex(Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); }
bool isComplex(Value value) { return isComplex(value.getType()); }

Type partType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

/// Moves elements without looking at them.
bool movesData(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::DynamicBroadcastInDimOp,
             stablehlo::DynamicGatherOp, stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
             stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp, stablehlo::PadOp,
             stablehlo::RealDynamicSliceOp, stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SelectOp,
             stablehlo::SetDimensionSizeOp, stablehlo::SliceOp, stablehlo::TransposeOp>(op);
}

/// Takes as many values of whatever type as it is given.
bool passesValues(Operation *op) {
  return isa<stablehlo::CaseOp, stablehlo::IfOp, stablehlo::MapOp, stablehlo::OptimizationBarrierOp,
             stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ReturnOp, stablehlo::ScatterOp,
             stablehlo::SortOp, stablehlo::WhileOp>(op);
}

class Splitter {
public:
  LogicalResult run(func::FuncOp function) {
    Block &entry = function.getBody().front();
    OpBuilder b(&entry, entry.begin());
    for (BlockArgument argument : entry.getArguments())
      if (isComplex(argument)) {
        if (!argument.use_empty())
          takeApart(b, argument);
      }
    for (Block &block : function.getBody())
      if (failed(splitBlock(block, /*ownsArguments=*/false)))
        return failure();
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    for (BlockArgument argument : llvm::reverse(deadArguments))
      argument.getOwner()->eraseArgument(argument.getArgNumber());
    return success();
  }

private:
  using Parts = std::pair<Value, Value>;

  void takeApart(OpBuilder &b, Value value) {
    Type type = partType(value.getType());
    Value re = stablehlo::RealOp::create(b, value.getLoc(), type, value);
    Value im = stablehlo::ImagOp::create(b, value.getLoc(), type, value);
    parts[value] = {re, im};
    borders.insert(re.getDefiningOp());
    borders.insert(im.getDefiningOp());
  }

  Complex partsOf(ImplicitLocOpBuilder &b, Value value) {
    Parts found = parts.at(value);
    return {Tensor(b, found.first), Tensor(b, found.second)};
  }

  SmallVector<Value> flatten(ValueRange values) {
    SmallVector<Value> flat;
    for (Value value : values) {
      if (!isComplex(value)) {
        flat.push_back(value);
        continue;
      }
      Parts found = parts.at(value);
      flat.append({found.first, found.second});
    }
    return flat;
  }

  static SmallVector<Type> flatten(TypeRange types) {
    SmallVector<Type> flat;
    for (Type type : types)
      flat.append(isComplex(type) ? 2 : 1, isComplex(type) ? partType(type) : type);
    return flat;
  }

  LogicalResult splitBlock(Block &block, bool ownsArguments) {
    // A comparator takes two elements of one operand next to each other; all other blocks take values one by one.
    unsigned group = isa<stablehlo::SortOp>(block.getParentOp()) ? 2 : 1;
    for (unsigned i = 0; ownsArguments && i < block.getNumArguments(); i += group) {
      if (!isComplex(block.getArgument(i)))
        continue;
      SmallVector<BlockArgument> whole;
      for (unsigned k = 0; k < group; ++k)
        whole.push_back(block.getArgument(i + k));
      i += group;
      for (unsigned k = 0; k < 2 * group; ++k)
        block.insertArgument(i + k, partType(whole.front().getType()), whole.front().getLoc());
      for (unsigned k = 0; k < group; ++k) {
        parts[whole[k]] = {block.getArgument(i + k), block.getArgument(i + group + k)};
        deadArguments.push_back(whole[k]);
      }
      i += group;
    }
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(split(&op)))
        return failure();
    return success();
  }

  LogicalResult splitRegions(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(splitBlock(block, /*ownsArguments=*/true)))
          return failure();
    return success();
  }

  LogicalResult split(Operation *op) {
    if (borders.contains(op))
      return success();
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (isa<stablehlo::RealOp, stablehlo::ImagOp>(op)) {
      Value operand = op->getOperand(0);
      bool isReal = isa<stablehlo::RealOp>(op);
      Value part;
      if (isComplex(operand))
        part = isReal ? parts.at(operand).first : parts.at(operand).second;
      else
        part = isReal ? operand : Value(Tensor(b, operand).like(0.0));
      op->replaceAllUsesWith(ValueRange{part});
      dead.push_back(op);
      return success();
    }
    auto isComplexType = [](Type type) { return isComplex(type); };
    if (llvm::none_of(op->getOperandTypes(), isComplexType) && llvm::none_of(op->getResultTypes(), isComplexType))
      return splitRegions(op);
    if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isComplex(operand.get()) && !isBorder(operand.get())) {
          Parts found = parts.at(operand.get());
          operand.set(stablehlo::ComplexOp::create(b, operand.get().getType(), found.first, found.second));
        }
      return success();
    }
    if (isa<stablehlo::ComplexOp>(op))
      return replace(op, {op->getOperand(0), op->getOperand(1)});
    if (isa<stablehlo::ConstantOp, chlo::ConstantOp>(op))
      return splitConstant(b, op);
    if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
      Value re =
          stablehlo::IotaOp::create(b, cast<RankedTensorType>(partType(iota.getType())), iota.getIotaDimension());
      return replace(op, {re, Tensor(b, re).like(0.0)});
    }
    if (auto iota = dyn_cast<stablehlo::DynamicIotaOp>(op)) {
      Value re = stablehlo::DynamicIotaOp::create(b, cast<RankedTensorType>(partType(iota.getType())),
                                                  iota.getOutputShape(), iota.getIotaDimension());
      return replace(op, {re, Tensor(b, re).like(0.0)});
    }
    // A shape is that of either part.
    if (isa<stablehlo::GetDimensionSizeOp>(op)) {
      op->setOperand(0, parts.at(op->getOperand(0)).first);
      return success();
    }
    if (auto conversion = dyn_cast<stablehlo::ConvertOp>(op))
      return splitConversion(b, conversion);
    if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op))
      return splitBitcast(b, cast);
    if (movesData(op))
      return replace(op, {clonePart(b, op, 0), clonePart(b, op, 1)});
    if (isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp, stablehlo::DynamicConvOp>(op))
      return splitProduct(b, op);
    if (auto map = dyn_cast<stablehlo::MapOp>(op); map && isComplex(map.getType()))
      return splitMap(b, map);
    if (passesValues(op))
      return rebuild(b, op);
    return splitElementwise(b, op);
  }

  bool isBorder(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  LogicalResult replace(Operation *op, Parts result) {
    parts[op->getResult(0)] = result;
    dead.push_back(op);
    return success();
  }

  Value clonePart(ImplicitLocOpBuilder &b, Operation *op, unsigned part) {
    Operation *clone = b.insert(op->cloneWithoutRegions());
    for (OpOperand &operand : clone->getOpOperands())
      if (isComplex(operand.get())) {
        Parts found = parts.at(operand.get());
        operand.set(part == 0 ? found.first : found.second);
      }
    if (isComplex(clone->getResult(0)))
      clone->getResult(0).setType(partType(clone->getResult(0).getType()));
    return clone->getResult(0);
  }

  LogicalResult splitConstant(ImplicitLocOpBuilder &b, Operation *op) {
    auto value = op->getAttrOfType<ElementsAttr>("value");
    auto type = cast<RankedTensorType>(partType(op->getResult(0).getType()));
    DenseElementsAttr part[2];
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      SmallVector<APFloat> numbers[2];
      auto add = [&](const std::complex<APFloat> &number) {
        numbers[0].push_back(number.real());
        numbers[1].push_back(number.imag());
      };
      if (dense.isSplat())
        add(dense.getSplatValue<std::complex<APFloat>>());
      else
        llvm::for_each(dense.getValues<std::complex<APFloat>>(), add);
      for (unsigned i = 0; i < 2; ++i)
        part[i] = DenseElementsAttr::get(type, numbers[i]);
    } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value);
               resource && resource.getRawHandle().getBlob()) {
      ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
      size_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
      if (data.size() != 2 * bytes * type.getNumElements())
        return op->emitError() << "the constant has " << data.size() << " bytes, its type needs "
                               << 2 * bytes * type.getNumElements();
      for (unsigned i = 0; i < 2; ++i) {
        SmallVector<char> raw(bytes * type.getNumElements());
        for (size_t to = 0, from = i * bytes; to < raw.size(); to += bytes, from += 2 * bytes)
          std::copy_n(data.data() + from, bytes, raw.data() + to);
        part[i] = DenseElementsAttr::getFromRawBuffer(type, raw);
      }
    } else {
      return op->emitError() << "the constant's value has a form that is not known";
    }
    return replace(op,
                   {stablehlo::ConstantOp::create(b, type, part[0]), stablehlo::ConstantOp::create(b, type, part[1])});
  }

  LogicalResult splitConversion(ImplicitLocOpBuilder &b, stablehlo::ConvertOp op) {
    Value operand = op.getOperand();
    Type to = getElementTypeOrSelf(op.getType());
    if (!isComplex(op.getType())) {
      op.replaceAllUsesWith(Value(convert(partsOf(b, operand).re, to)));
      dead.push_back(op);
      return success();
    }
    Type element = cast<ComplexType>(to).getElementType();
    if (isComplex(operand)) {
      Complex z = partsOf(b, operand);
      return replace(op, {convert(z.re, element), convert(z.im, element)});
    }
    Tensor re = convert(Tensor(b, operand), element);
    return replace(op, {re, re.like(0.0)});
  }

  /// In memory the real part comes first, so complex<f64> is complex<f32> of its real part's halves, then of its
  /// imaginary part's.
  LogicalResult splitBitcast(ImplicitLocOpBuilder &b, stablehlo::BitcastConvertOp op) {
    if (!isComplex(op.getOperand()) || !isComplex(op.getType()))
      return op.emitError() << "complex elements can only be cast to complex elements, not "
                            << op.getOperand().getType() << " to " << op.getType();
    Complex z = partsOf(b, op.getOperand());
    auto type = cast<RankedTensorType>(partType(op.getType()));
    Type element = type.getElementType();
    if (z.re.element() == element)
      return replace(op, {z.re, z.im});
    if (z.re.element().isF64()) {
      SmallVector<int64_t> halves(z.re.shape());
      halves.push_back(2);
      Tensor re(b, stablehlo::BitcastConvertOp::create(b, z.re.type().clone(halves, element), z.re));
      Tensor im(b, stablehlo::BitcastConvertOp::create(b, z.re.type().clone(halves, element), z.im));
      auto half = [&](int64_t i) -> Value {
        return concatenate({slice(re, -1, i, i + 1), slice(im, -1, i, i + 1)}, -1);
      };
      return replace(op, {half(0), half(1)});
    }
    auto whole = [&](int64_t i) -> Value {
      Tensor halves = concatenate({slice(z.re, -1, i, i + 1), slice(z.im, -1, i, i + 1)}, -1);
      return stablehlo::BitcastConvertOp::create(b, type, halves);
    };
    return replace(op, {whole(0), whole(1)});
  }

  /// (a + ib)(c + id), where each real product is a dot_general or a convolution.
  LogicalResult splitProduct(ImplicitLocOpBuilder &b, Operation *op) {
    if (!isComplex(op->getOperand(0)) || !isComplex(op->getOperand(1)) || !isComplex(op->getResult(0)))
      return op->emitError() << "'" << op->getName() << "' needs complex elements everywhere or nowhere, got "
                             << op->getOperandTypes() << " and " << op->getResultTypes();
    Complex x = partsOf(b, op->getOperand(0)), y = partsOf(b, op->getOperand(1));
    auto product = [&](Value lhs, Value rhs) {
      Operation *clone = b.insert(op->cloneWithoutRegions());
      clone->setOperand(0, lhs);
      clone->setOperand(1, rhs);
      clone->getResult(0).setType(partType(op->getResult(0).getType()));
      return Tensor(b, clone->getResult(0));
    };
    return replace(op, {product(x.re, y.re) - product(x.im, y.im), product(x.re, y.im) + product(x.im, y.re)});
  }

  /// A map has one result, so each part is a map of its own.
  LogicalResult splitMap(ImplicitLocOpBuilder &b, stablehlo::MapOp op) {
    Value results[2];
    for (unsigned part = 0; part < 2; ++part) {
      auto map = cast<stablehlo::MapOp>(b.clone(*op));
      Operation *terminator = map.getComputation().front().getTerminator();
      ImplicitLocOpBuilder inner(op.getLoc(), terminator);
      Value value = terminator->getOperand(0);
      Type type = partType(value.getType());
      terminator->setOperand(0, part == 0 ? Value(stablehlo::RealOp::create(inner, type, value))
                                          : stablehlo::ImagOp::create(inner, type, value));
      map.getResult().setType(cast<RankedTensorType>(partType(map.getType())));
      results[part] = map.getResult();
    }
    parts[op.getResult()] = {results[0], results[1]};
    dead.push_back(op);
    for (Value &result : results) {
      Operation *map = result.getDefiningOp();
      if (llvm::none_of(map->getOperandTypes(), [](Type type) { return isComplex(type); })) {
        if (failed(splitRegions(map)))
          return failure();
        continue;
      }
      b.setInsertionPoint(map);
      Operation *rebuilt = rebuildFlat(b, map);
      if (failed(splitRegions(rebuilt)))
        return failure();
      result = rebuilt->getResult(0);
    }
    parts[op.getResult()] = {results[0], results[1]};
    return success();
  }

  /// The same operation on twice as many values; it takes the regions.
  Operation *rebuildFlat(ImplicitLocOpBuilder &b, Operation *op) {
    Operation *flat = Operation::create(op->getLoc(), op->getName(), flatten(op->getResultTypes()),
                                        flatten(op->getOperands()), op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), BlockRange(), op->getNumRegions());
    b.insert(flat);
    for (auto [to, from] : llvm::zip_equal(flat->getRegions(), op->getRegions()))
      to.takeBody(from);
    dead.push_back(op);
    return flat;
  }

  LogicalResult rebuild(ImplicitLocOpBuilder &b, Operation *op) {
    Operation *flat = rebuildFlat(b, op);
    unsigned next = 0;
    for (Value result : op->getResults()) {
      if (isComplex(result)) {
        parts[result] = {flat->getResult(next), flat->getResult(next + 1)};
        next += 2;
      } else {
        result.replaceAllUsesWith(flat->getResult(next++));
      }
    }
    return splitRegions(flat);
  }

  LogicalResult splitElementwise(ImplicitLocOpBuilder &b, Operation *op) {
    SmallVector<Complex> operands;
    bool isElementwise = op->getNumResults() == 1 && op->getNumOperands() > 0;
    for (Value operand : op->getOperands()) {
      isElementwise &= isComplex(operand);
      if (!isElementwise)
        break;
      Complex z = partsOf(b, operand);
      // The bounds of clamp may be one number.
      ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
      operands.push_back({broadcast(z.re, shape, {}), broadcast(z.im, shape, {})});
    }
    SmallVector<Tensor, 2> result;
    if (isElementwise)
      result = computeComplex(b, op, operands);
    if (result.empty())
      return op->emitError() << "'" << op->getName()
                             << "' is not supported on complex elements (operands: " << op->getOperandTypes()
                             << "; results: " << op->getResultTypes() << ")";
    if (result.size() == 2)
      return replace(op, {result[0], result[1]});
    op->replaceAllUsesWith(ValueRange{result.front()});
    dead.push_back(op);
    return success();
  }

  DenseMap<Value, Parts> parts;
  DenseSet<Operation *> borders;
  SmallVector<Operation *> dead;
  SmallVector<BlockArgument> deadArguments;
};

class SplitComplexPass : public impl::SplitComplexPassBase<SplitComplexPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isExternal() && failed(Splitter().run(function)))
      signalPassFailure();
  }
};

} // namespace
} // namespace latewood::input
