// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a group is once the names of tensors are gone: statements over loops that read and write memory at linear
// addresses.
//
// An operand with indexing map (i, j) -> (j, i) into a tensor<8x4xf32> is the address 4*j + i of a flat buffer: one
// stride per loop. Extents and strides are symbolic sizes (SymbolicSize.h), constants where shapes are static. On
// strides, all questions of scheduling are arithmetic:
//   - two loops are one if, in every access, the outer stride is the inner stride times the inner extent. A chain of
//     elementwise operations on 4-dimensional tensors becomes one loop; a broadcast or a transposition keeps just those
//     loops apart that must be;
//   - a loop is a good vector loop if most accesses have stride 1 or 0 on it;
//   - a slice, a reversal, a window of a pooling are strides and offsets like any others.
//
// A program has *rows*: loops that all statements share (see cpu.group). Tensors that do not leave the group exist for
// one row at a time: their strides over row dimensions are 0. One row may be chosen as the *shared vector loop*: then a
// "row" is a strip of it, and all statements are vectorized along it (a softmax over the first dimension, an
// elementwise chain). Otherwise each statement has a vector loop of its own.
//
// Statements are put into *phases*: the statements of a phase run in one loop nest, and pass values on in registers.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_LOOPPROGRAM_H
#define LATEWOOD_COMPILER_ENGINES_CPU_LOOPPROGRAM_H

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "latewood/compiler/Target/Target.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <vector>

namespace latewood::cpu {

/// The elements of one tensor: offset + Σ strides[d] * index[d].
struct Storage {
  mlir::Value tensor; // the value in the group's region that it holds
  mlir::Value memref; // null: row-local, allocated by the emitter
  mlir::Type elementType;
  llvm::SmallVector<SymbolicSize> shape, strides;
  SymbolicSize offset;
  bool hasDynamicOffset = false;
  // Of a row-local storage.
  bool needed = false;       // some statement of another phase reads it
  bool perStrip = false;     // indexed relative to the strip of the shared vector loop
  SymbolicSize elements = 1; // without the strip
  // Set by the emitter.
  mlir::Value flat;          // a rank-1 buffer
  mlir::Value dynamicOffset; // null: 0
};

/// offset + Σ strides[l] * (loop l)
struct Linear {
  llvm::SmallVector<SymbolicSize> strides;
  SymbolicSize offset;
};

struct Access {
  enum class Kind {
    None,    // the value is not used
    Scalar,  // a scalar operand of the operation, or the value of a fill
    Linear,  // storage at `address`
    Indexed, // storage at `map`, which is not linear
  } kind = Kind::None;
  mlir::Value tensor;       // in the region
  mlir::Value scalar;       // Scalar: a value outside of the group, or null and
  mlir::Attribute constant; // a constant
  int storage = -1;
  Linear address;
  mlir::AffineMap map;
};

struct Loop {
  SymbolicSize extent;
  bool reduction;
  int row = -1; // index into Program::rows
};

/// How a statement's partial results may be combined.
struct Combiner {
  enum class Kind {
    None,   // only in order
    Simple, // one commutative operation with an identity
    Monoid, // the body itself: inputs and accumulators have the same types, the initial value is an identity
  } kind = Kind::None;
  llvm::SmallVector<mlir::vector::CombiningKind> kinds; // Simple: for each result
};

Combiner matchCombiner(mlir::linalg::GenericOp op);

struct Statement;

/// Lets the statement, whose accesses are known, keep to the order if it is a monoid that does not start at an
/// identity.
void keepOrderUnlessIdentity(Statement &statement);

/// Why the body of `op` cannot be vectorized; empty if it can.
std::string findUnvectorizable(mlir::linalg::GenericOp op);

struct Program;

struct Statement {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Access> inputs, inits, outs;
  llvm::SmallVector<Linear> dims; // the value of `linalg.index d`
  llvm::SmallVector<mlir::Type> accumulatorTypes;
  Combiner combiner;
  std::string notVectorizable; // the reason, or empty
  bool scalarTail = false;     // lanes that are masked off could trap
  int vectorLoop = -1;
  unsigned width = 1; // lanes

  bool hasReduction() const {
    return llvm::any_of(loops, [](const Loop &loop) { return loop.reduction; });
  }
  bool isInner(int loop) const { return loops[loop].row < 0; }
  /// Loops that are neither rows nor the vector loop.
  llvm::SmallVector<int> innerLoops(bool reduction) const;
  /// True if there is one value per row.
  bool isRowScalar() const;
  /// How often the body runs, for symbols of a typical value.
  int64_t iterations() const;
  /// The type in which a result is accumulated: that of the body's argument.
  mlir::Type getAccumulatorType(unsigned result) { return op.getBody()->getArgument(inputs.size() + result).getType(); }
  /// The reduced loop of a statement that sums columns of a large matrix into a contiguous result, or -1. Its results
  /// are then accumulated in memory, a few rows at a time: columns one after the other would touch each page for a few
  /// lines only.
  int columnLoop(const Program &program) const;
};

struct Phase {
  llvm::SmallVector<int> statements;
  unsigned width = 1;
};

struct Program {
  llvm::SmallVector<SymbolicSize> rows; // extents
  int sharedRow = -1;                   // the row that is the vector loop of all statements
  int transposedRow = -1; // the row that some input is contiguous along, where results are along the shared row
  std::vector<Storage> storages;
  std::vector<Statement> statements;
  llvm::SmallVector<Phase> phases;
  llvm::DenseMap<mlir::Value, mlir::Value> outside; // scalars: from the region's argument to the group's operand

  int findStorage(mlir::Value tensor) const;
  /// Index of the statement that computes `tensor`, or -1.
  int findProducer(mlir::Value tensor) const;
};

/// The program of a group on buffers. Fails with a diagnostic on what a group must not contain.
mlir::FailureOr<Program> buildProgram(GroupOp group, const target::Target &target);
/// The program of one operation on buffers.
mlir::FailureOr<Program> buildProgram(mlir::linalg::GenericOp op, const target::Target &target);

/// Chooses vector loops and phases: what both builders end with.
void schedule(Program &program, const target::Target &target);

/// Computes arithmetic on f16, bf16 in f32 in the body of `statement`, accumulators included where the order is free.
void promoteNarrowFloats(Statement &statement);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_LOOPPROGRAM_H
