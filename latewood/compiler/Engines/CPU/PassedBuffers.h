// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a buffer travels into a function that is made from a piece of another one: as its base and the scalars that its
// type leaves open. A buffer of static shape at a static place is passed as it is; of one whose place is not static,
// base and offset; of one of dynamic shape, the base and the extents, which other buffers share. So such functions need
// no descriptors, and equal extents stay one value inside of them.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PASSEDBUFFERS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_PASSEDBUFFERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace latewood::cpu {

struct PassedBuffer {
  mlir::Value original, base; // the same where nothing is open
  /// Values outside of the function, or constants. Strides are empty where they follow from the extents.
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;

  /// The values that are passed besides the base.
  llvm::SmallVector<mlir::Value> getScalars() const;
};

/// Prepares `buffer`. With `opensOffset` its place travels as a scalar also where it is static, so that slices at
/// different places have the same type.
PassedBuffer passBuffer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer, bool opensOffset);

/// The buffer again, inside of the function, from what `base` and the scalars have become there.
mlir::Value rebuildBuffer(mlir::OpBuilder &inside, mlir::Location loc, const PassedBuffer &buffer, mlir::Value base,
                          llvm::function_ref<mlir::Value(mlir::Value)> lookup);

/// What the value is a view of, through all views.
mlir::Value rootBuffer(mlir::Value value);

/// The strides of the canonical layout.
llvm::SmallVector<mlir::OpFoldResult> computeCanonicalStrides(mlir::OpBuilder &builder, mlir::Location loc,
                                                              llvm::ArrayRef<mlir::OpFoldResult> sizes);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PASSEDBUFFERS_H
