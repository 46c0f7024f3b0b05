// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function in the `tensorrt` dialect to a network definition of TensorRT: one layer for each operation, in
// order.
//
// In:  a function of `tensorrt` operations. Arguments are tensors, or scalars of type `index`, which become inputs that
//      the host gives (0-dimensional i64); destinations (`plan.out`) are no inputs.
// Out: a network with inputs `in0`, `in1`, … and outputs `out0`, `out1`, … in the function's order. Layers are named
//      `op0`, `op1`, …; `findOperation` finds the operation that a message of TensorRT talks about.
//
// The weights of a network stay here: they must live until the engine is built. BuilderLibrary.h says why it is
// compiled twice.
#ifndef LATEWOOD_COMPILER_ENGINES_TENSORRT_NETWORKBUILDER_H
#define LATEWOOD_COMPILER_ENGINES_TENSORRT_NETWORKBUILDER_H

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <NvInfer.h>
#include <deque>
#include <vector>

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

class NetworkBuilder {
public:
  /// `namesWeights`: the weights that getWeights lists have names and may be replaced.
  explicit NetworkBuilder(nvinfer1::INetworkDefinition &network, bool namesWeights = false)
      : network(network), namesWeights(namesWeights) {}

  /// Fails with a diagnostic at the operation that TensorRT refuses.
  mlir::LogicalResult build(mlir::func::FuncOp function);

  /// The operation of the layer that `message` names, or null.
  mlir::Operation *findOperation(llvm::StringRef message) const;

private:
  using Tensors = llvm::SmallVector<nvinfer1::ITensor *>;

  // The structure (NetworkBuilder.cpp).
  mlir::LogicalResult addInputs(mlir::func::FuncOp function);
  mlir::LogicalResult addOutputs(mlir::Operation *terminator);
  mlir::LogicalResult addBlock(mlir::Block &block);
  mlir::LogicalResult addOperation(mlir::Operation *op);
  mlir::LogicalResult add(IfOp op);
  mlir::LogicalResult addSelected(IfOp op);
  mlir::LogicalResult add(WhileOp op);
  mlir::LogicalResult add(ForOp op);
  /// A value that a loop carries, in its region as `argument`.
  mlir::LogicalResult addRecurrence(mlir::Operation *op, nvinfer1::ILoop &loop, mlir::Value initial,
                                    mlir::Value argument,
                                    llvm::SmallVectorImpl<nvinfer1::IRecurrenceLayer *> &recurrences);
  nvinfer1::ITensor *copyTransposed(mlir::Value value);
  /// The body of a loop, whose values go back into `recurrences`, and the loop's results.
  mlir::LogicalResult addLoopBody(mlir::Operation *op, nvinfer1::ILoop &loop,
                                  llvm::ArrayRef<nvinfer1::IRecurrenceLayer *> recurrences, mlir::Block &body);
  mlir::LogicalResult add(OpaquePluginOp op);

  // The layers (NetworkLayers.cpp, NetworkShapes.cpp). Null: TensorRT refuses.
  nvinfer1::ILayer *addLayer(mlir::Operation *op);
  nvinfer1::ILayer *addShapeLayer(mlir::Operation *op);
  nvinfer1::ILayer *addConvolution(ConvolutionOp op);
  nvinfer1::ILayer *addDeconvolution(DeconvolutionOp op);
  nvinfer1::ILayer *addAttention(AttentionOp op);
  nvinfer1::ILayer *addBroadcast(BroadcastOp op);
  nvinfer1::ILayer *addSlice(SliceOp op);
  nvinfer1::ILayer *addConstant(ConstantOp op);
  nvinfer1::ILayer *addConverted(mlir::DenseElementsAttr value);
  nvinfer1::ILayer *addDynamicQuantize(DynamicQuantizeOp op);
  template <typename Op>
  nvinfer1::ILayer *addResize(Op op, nvinfer1::InterpolationMode mode);
  template <typename Op>
  nvinfer1::ILayer *addRandom(Op op, nvinfer1::FillOperation operation, mlir::Value first, mlir::Value second,
                              std::optional<llvm::APFloat> staticFirst, std::optional<llvm::APFloat> staticSecond);
  nvinfer1::ILayer *addFill(mlir::RankedTensorType type, mlir::Value shape, nvinfer1::FillOperation operation);

  // Small tensors.
  nvinfer1::ITensor *constantVector(llvm::ArrayRef<int64_t> values);
  nvinfer1::ITensor *constantScalar(int64_t value, nvinfer1::DataType type);
  nvinfer1::ITensor *binary(nvinfer1::ITensor *lhs, nvinfer1::ITensor *rhs, nvinfer1::ElementWiseOperation operation);

  nvinfer1::Weights keep(mlir::DenseElementsAttr value);
  /// The elements of the constant that `value` is, or none; their name is `value`'s.
  nvinfer1::Weights keepConstant(mlir::Value value);
  mlir::LogicalResult nameWeights(mlir::func::FuncOp function);
  nvinfer1::ITensor &get(mlir::Value value) { return *tensors.lookup(value); }
  /// `tensor`, which comes from `op`, is `value`.
  mlir::LogicalResult define(mlir::Operation *op, mlir::Value value, nvinfer1::ITensor *tensor);
  /// Names the layer, and makes its outputs the operation's results.
  mlir::LogicalResult finish(mlir::Operation *op, nvinfer1::ILayer *layer);

  nvinfer1::INetworkDefinition &network;
  bool namesWeights;
  llvm::DenseMap<mlir::Value, nvinfer1::ITensor *> tensors;
  std::vector<mlir::Operation *> operations;
  std::deque<std::vector<char>> weights;
  /// All weights that a constant became.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<nvinfer1::Weights, 1>> weightsOf;
};

/// TensorRT's name of an element type; nothing if it has none.
std::optional<nvinfer1::DataType> toDataType(mlir::Type type);
/// Extents; -1 where they are not known.
nvinfer1::Dims toDims(llvm::ArrayRef<int64_t> extents);

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt

#endif // LATEWOOD_COMPILER_ENGINES_TENSORRT_NETWORKBUILDER_H
