// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "latewood/compiler/Engines/TensorRT/EngineWeights.h"
#include "latewood/format/EngineWeights.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace latewood::tensorrt {

SmallVector<ConstantOp> getWeights(func::FuncOp function) {
  SmallVector<ConstantOp> weights;
  function.walk([&](ConstantOp op) {
    Type element = getElementTypeOrSelf(op.getType());
    if (element.isF32() || element.isF16() || element.isBF16())
      weights.push_back(op);
  });
  return weights;
}

DenseElementsAttr getElements(ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getWeights());
  if (!dense)
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getWeights()))
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        dense = DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
  return dense;
}

/// TensorRT's number of a type of floats.
static int64_t numberOf(Type element) { return element.isF32() ? 0 : element.isF16() ? 1 : 7; }

std::vector<char> joinEngineAndWeights(ArrayRef<char> engine, func::FuncOp function) {
  std::vector<char> bytes(format::kEngineWeightsMark.begin(), format::kEngineWeightsMark.end());
  auto number = [&](int64_t value) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<char>(value >> (8 * i)));
  };
  auto align = [&]() { bytes.resize(format::alignEngineWeights(bytes.size())); };
  SmallVector<ConstantOp> weights = getWeights(function);
  number(static_cast<int64_t>(engine.size()));
  number(static_cast<int64_t>(weights.size()));
  std::string names;
  auto sizeOf = [](ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
  };
  for (auto [i, op] : llvm::enumerate(weights)) {
    std::string name = "w" + std::to_string(i);
    number(static_cast<int64_t>(name.size()));
    number(numberOf(getElementTypeOrSelf(op.getType())));
    number(cast<RankedTensorType>(op.getType()).getNumElements());
    number(sizeOf(op));
    names += name;
  }
  bytes.insert(bytes.end(), names.begin(), names.end());
  align();
  bytes.insert(bytes.end(), engine.begin(), engine.end());
  for (ConstantOp op : weights) {
    align();
    DenseElementsAttr elements = getElements(op);
    size_t end = bytes.size() + static_cast<size_t>(sizeOf(op));
    ArrayRef<char> raw = elements ? elements.getRawData() : ArrayRef<char>();
    // A splat has one element.
    while (!raw.empty() && bytes.size() < end)
      bytes.insert(bytes.end(), raw.begin(), raw.end());
    bytes.resize(end);
  }
  return bytes;
}

std::string printWithoutWeights(func::FuncOp function) {
  OwningOpRef<func::FuncOp> clone(function.clone());
  for (ConstantOp op : getWeights(*clone)) {
    auto type = cast<RankedTensorType>(op.getType());
    op.setWeightsAttr(DenseElementsAttr::get(type, FloatAttr::get(type.getElementType(), 0.0)));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  (*clone)->print(os, OpPrintingFlags().useLocalScope());
  return text;
}

} // namespace latewood::tensorrt
