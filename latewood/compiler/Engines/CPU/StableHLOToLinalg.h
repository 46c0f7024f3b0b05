// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of the conversion from StableHLO to linalg on tensors, one group of patterns per family of operations.
//
// Three forms of an element meet here:
//   element type   what StableHLO says: `ui8`, `i1`, `i4`
//   storage type   what a tensor holds after the conversion: `i8`, `i8`, `i8` (integers are signless, nothing is
//   smaller than
//                  a byte: a vector of i1 would be stored as bits)
//   compute type   what a scalar in the body of a linalg.generic has: `i8`, `i1`, `i4`
// A float of 8 bits or fewer is an integer of its width in storage and as a scalar: its bits. Arithmetic decodes it to
// f32. Every element is loaded (storage to compute), computed with, and stored (compute to storage). When two bodies
// are fused, store and load cancel.
//
// A tensor whose elements are all one value (0-dimensional, a splat, a broadcast scalar) is `linalg.fill` of a scalar
// or a splat constant, and whoever reads it takes the scalar: no tensor of equal elements is read back from memory.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALG_H
#define LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALG_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include <optional>
#include <string>

namespace latewood::cpu {

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

/// Why the conversion cannot take `op` (a StableHLO or CHLO operation), nothing when it can: what is not supported, as
/// in "complex element types".
std::optional<std::string> whyNotConvertible(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Elements (StableHLOToLinalgScalar.cpp, StableHLOToLinalgConvert.cpp)
//===----------------------------------------------------------------------===//

/// Storage and compute type of a StableHLO element type; null when the engine does not have that type.
mlir::Type getStorageType(mlir::Type element);
mlir::Type getComputeType(mlir::Type element);

mlir::Value loadElement(mlir::ImplicitLocOpBuilder &b, mlir::Value stored, mlir::Type element);
mlir::Value storeElement(mlir::ImplicitLocOpBuilder &b, mlir::Value computed, mlir::Type element);

/// A float of 8 bits or fewer, its bits as an f32, and an f32 rounded to its bits (StableHLOToLinalgNarrowFloats.cpp).
bool isByteFloat(mlir::Type type);
mlir::Value decodeByteFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value bits, mlir::FloatType type);
mlir::Value encodeByteFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::FloatType type);

/// `value`, computed as `from`, converted to `to` by the rules of stablehlo.convert. A float that an integer type
/// cannot hold becomes the nearest integer, a NaN becomes 0.
mlir::Value convertElement(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type from, mlir::Type to);

/// True for an operation whose result elements are scalar code over the operands' elements.
bool isScalarOp(mlir::Operation *op);

/// Emits one element of `op` on computed operands.
mlir::Value emitScalarOp(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op, mlir::ValueRange operands);

/// The first operation in `block` that is no scalar code over 0-dimensional values, or null.
mlir::Operation *findNonScalarOp(mlir::Block &block);

/// Emits the operations of `block` (a reducer, a comparator) on scalars. `captured` gives the computed value of a value
/// that is defined outside. Returns the computed operands of the terminator.
llvm::SmallVector<mlir::Value> emitScalarBlock(mlir::ImplicitLocOpBuilder &b, mlir::Block &block,
                                               mlir::ValueRange arguments,
                                               llvm::function_ref<mlir::Value(mlir::Value)> captured);

//===----------------------------------------------------------------------===//
// Extents (StableHLOToLinalgExtents.cpp)
//===----------------------------------------------------------------------===//

/// One entry per dimension: an attribute where the tensor's type knows the extent, an index value where it does not.
using Extents = llvm::SmallVector<mlir::OpFoldResult>;

/// Whether the extents of `values`, tensors of one shape in the program that is converted, are known as scalars.
bool hasKnownExtents(mlir::ValueRange values);
Extents getExtents(mlir::ConversionPatternRewriter &rewriter, mlir::ValueRange values);

/// Whether the elements of a small integer tensor (a shape, paddings) are known, as constants or scalars; and they.
bool hasKnownValues(mlir::Value value);
llvm::SmallVector<mlir::OpFoldResult> getIndices(mlir::ConversionPatternRewriter &rewriter, mlir::Location loc,
                                                 mlir::Value value);

/// The extents of a tensor that the conversion made, where the operations that make it say them.
std::optional<Extents> findExtents(mlir::ImplicitLocOpBuilder &b, mlir::Value converted);

mlir::RankedTensorType getTypeOf(llvm::ArrayRef<mlir::OpFoldResult> extents, mlir::Type element);
Extents withoutDim(llvm::ArrayRef<mlir::OpFoldResult> extents, int64_t dim);
bool isKnown(mlir::OpFoldResult index, int64_t value);
bool isKnownEmpty(llvm::ArrayRef<mlir::OpFoldResult> extents);

mlir::Value toValue(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult index);
llvm::SmallVector<mlir::Value> toValues(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> indices);
mlir::OpFoldResult addIndices(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult subIndices(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult mulIndices(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult x, mlir::OpFoldResult y);
/// Of numbers that are not negative.
mlir::OpFoldResult divIndices(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult maxIndices(mlir::ImplicitLocOpBuilder &b, mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult multiplyAll(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> extents);

//===----------------------------------------------------------------------===//
// Tensors (StableHLOToLinalgTensor.cpp, StableHLOToLinalgReshape.cpp)
//===----------------------------------------------------------------------===//

inline mlir::Type getElement(mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()); }
inline mlir::Type getElement(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }

/// tensor.empty of `type`, which must agree with `extents`; a static type needs none.
mlir::Value makeEmpty(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type,
                      llvm::ArrayRef<mlir::OpFoldResult> extents = {});

/// A tensor with a buffer of its own, for loops that carry several tensors: equal tensor.empty ops become one, and two
/// carried tensors must not start as the same buffer.
mlir::Value makeBuffer(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type,
                       llvm::ArrayRef<mlir::OpFoldResult> extents = {});

/// A tensor of equal elements. `stored` has the storage type.
mlir::Value makeUniform(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, mlir::Value stored,
                        llvm::ArrayRef<mlir::OpFoldResult> extents = {});

/// The (stored) value of all elements of `tensor` when it is 0-dimensional or known to be uniform; else null.
mlir::Value getUniform(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor);

/// The stored element of a tensor with one element.
mlir::Value getOnlyElement(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor);

/// The map from `loops` dimensions to the first `count` of them.
mlir::AffineMap getLeadingDims(mlir::Builder &b, unsigned loops, unsigned count);

/// A linalg.generic that yields `body(elements of inputs)`, all in storage types. `inputMaps` have the loops of the
/// result as dimensions; the result's map is the identity.
mlir::Value makeParallel(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, mlir::Value init,
                         mlir::ValueRange inputs, llvm::ArrayRef<mlir::AffineMap> inputMaps,
                         llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)> body);

/// How a tensor is padded: spread by `interior` elements and surrounded by `low` and `high` ones; where these are
/// negative, it is cut.
struct Padding {
  Extents low, high, interior;
};

/// The extents of a padded tensor of `extents`.
Extents getPaddedExtents(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> extents,
                         const Padding &padding);

/// `tensor` of `extents`, padded with elements of the value `stored`; what results has the extents `padded`.
mlir::Value makePadded(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> extents,
                       mlir::Value stored, const Padding &padding, llvm::ArrayRef<mlir::OpFoldResult> padded);

/// Row-major reshape of `value`, which has the extents `from`, to `extents`; `type` agrees with them. Always a view.
mlir::Value makeReshape(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, mlir::Value value,
                        llvm::ArrayRef<mlir::OpFoldResult> from, llvm::ArrayRef<mlir::OpFoldResult> extents);

/// The elements of `tensor` in the opposite order along `dims`.
mlir::Value makeReversed(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, llvm::ArrayRef<mlir::OpFoldResult> extents,
                         llvm::ArrayRef<int64_t> dims);

/// What stablehlo.reduce and reduce_window have in common: `body` combines the elements of `inputs`, read by
/// `inputMap`, into tensors of `types` (storage types) that start as `inits` and are written by `resultMap`.
/// `windowMap` belongs to an operand that only gives extents to loops.
struct Reduction {
  mlir::Block &body;
  mlir::ValueRange inputs;
  mlir::TypeRange inputElements; // StableHLO element types
  mlir::ValueRange inits;
  mlir::TypeRange initElements;
  llvm::ArrayRef<mlir::Type> types;
  mlir::TypeRange resultElements;
  Extents extents; // of the results
  mlir::AffineMap inputMap, resultMap, windowMap;
  mlir::Value window;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
};
llvm::SmallVector<mlir::Value> makeReduction(mlir::ConversionPatternRewriter &rewriter, mlir::Location loc,
                                             const Reduction &reduction);

/// The computed values of what `block` uses from outside: 0-dimensional tensors, read in front of the operation that
/// `rewriter` stands at.
llvm::DenseMap<mlir::Value, mlir::Value> readCaptured(mlir::ConversionPatternRewriter &rewriter, mlir::Block &block);

/// `index` (stored; `element` says whether it is signed) as an index clamped to [0, extent - size].
mlir::Value clampIndex(mlir::ImplicitLocOpBuilder &b, mlir::Value index, mlir::Type element, mlir::OpFoldResult extent,
                       mlir::OpFoldResult size);

//===----------------------------------------------------------------------===//
// Patterns by family
//===----------------------------------------------------------------------===//

void populateDynamicToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateElementwiseToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateShapeToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateReductionToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateContractionToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateIndexingToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateScatterToLoops(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
/// Whether `op` is latewood.nonzero, in a form that has a conversion.
bool isNonzero(mlir::Operation *op);
void populateCompactToLoops(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateSortToLoops(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateWindowToLinalg(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateComplexToSlices(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);
void populateControlFlowToSCF(const mlir::TypeConverter &types, mlir::RewritePatternSet &patterns);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALG_H
