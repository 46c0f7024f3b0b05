// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the code of a program (see LoopProgram.h): tasks, loops over rows, and one loop nest for each phase.
//
//     scf.forall (%task) {                      if there is enough work for several tasks
//       scratch for row-local tensors
//       for each row of the task                (or strip of the shared vector loop)
//         phase 0: for full vectors … ; tail    max
//         phase 1: for full vectors … ; tail    exp, and its sum
//         phase 2: …
//     }
//
// A loop over vectors has a main part without masks and at most one masked step for the rest. Reductions along the
// vector loop carry several vectors of partial results, and combine them once at the end; reductions across it carry
// the vectors of their results. How the index space is split into tasks depends on the shapes alone, so results do not
// depend on the number of threads.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PROGRAMEMITTER_H
#define LATEWOOD_COMPILER_ENGINES_CPU_PROGRAMEMITTER_H

#include "latewood/compiler/Engines/CPU/LaneBuilder.h"
#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace latewood::cpu {

class ProgramEmitter {
public:
  ProgramEmitter(mlir::OpBuilder &builder, mlir::Location loc, Program &program)
      : b(builder), loc(loc), program(program), lanes(builder, loc) {}

  /// Writes the program at the builder's insertion point. `parallel`: tasks may run on several threads.
  void emit(bool parallel);

private:
  /// Work of a task, in units of about one instruction on one element: some 10 to 20 microseconds, so that handing out
  /// a task does not matter and even one BERT layer's softmax makes a dozen of them.
  static constexpr double taskWork = 1 << 17;
  /// Columns of a matrix that a task sums: long runs of memory for the prefetchers.
  static constexpr int64_t columnStrip = 512;

  using Results = llvm::SmallVector<mlir::Value>;
  using LoopBody = llvm::function_ref<Results(Index, mlir::ValueRange)>;

  // Tasks and rows.
  void prepareStorages();
  SymbolicSize scratchElements(const Storage &storage) const;
  void prepareScratch();
  void allocateScratch();
  bool isStatic() const;
  bool sumsColumns() const;
  void chooseStrips();
  SymbolicSize pieceExtent() const;
  int64_t pieceAlignment() const;
  /// Instructions per element of a statement, about.
  static double elementWork(Statement &statement);
  double rowWork() const;
  llvm::SmallVector<Index> splitTask(mlir::Value task, llvm::ArrayRef<int64_t> radices);
  void emitRows(llvm::ArrayRef<unsigned> counted, llvm::function_ref<void()> body);
  void emitTasks(llvm::ArrayRef<unsigned> counted);
  void emitBlocks(llvm::ArrayRef<unsigned> counted);
  // Tasks whose number depends on extents (RuntimeTasks.cpp).
  SymbolicSize symbolicRowWork() const;
  void emitRuntimeTasks(llvm::ArrayRef<unsigned> counted);
  void emitFlatRows(llvm::ArrayRef<unsigned> counted, Index first, Index last, llvm::function_ref<void()> body);
  void emitPiece(Index low, Index high);
  void emitStrips(Index low, Index high);
  void emitRow(Index low, Index high);

  // Transpositions (TransposeEmitter.cpp).
  void emitTransposed(Index low, Index high);
  void emitTile(Statement &statement, Index write, Index writeCount, Index read, Index readCount);
  int64_t transposedBlock() const;

  // Phases.
  void emitPhase(Phase &phase);
  void emitInnerLoops(Phase &phase, llvm::ArrayRef<int> loops);
  void emitScalar(Statement &statement);
  void emitElementwise(Phase &phase);
  void emitColumns(Statement &statement);
  void emitColumnsInMemory(Statement &statement, int reduced);
  void emitAcross(Phase &phase);
  struct Step;
  Results emitRest(Index low, Index high, int64_t width, mlir::ValueRange carried,
                   llvm::function_ref<Results(const Step &, mlir::ValueRange)> emitStep);
  Results emitReductionLoops(Statement &statement, llvm::ArrayRef<int> loops, Results accumulators, LoopBody body);

  // Vectors. A step covers `width` lanes from `at` of the vector loop, for `unroll` vectors.
  struct Step {
    Index at;
    int64_t width = 1;
    mlir::Value mask;
  };
  void beginStep(const Step &step);
  void addOuterScalars(mlir::Block *body, llvm::DenseMap<mlir::Value, Lanes> &values);
  llvm::SmallVector<Lanes> evaluate(Statement &statement, const Step &step, llvm::ArrayRef<Lanes> accumulators);
  void writeResults(Statement &statement, const Step &step, llvm::ArrayRef<Lanes> results);
  Lanes initialValue(Statement &statement, unsigned result, const Step &step);
  Lanes convertAccumulator(Lanes value, mlir::Type type);
  void forEachStep(Index low, Index high, int64_t width, bool scalarTail, llvm::ArrayRef<int64_t> unrolls,
                   llvm::function_ref<void(const Step &, int64_t)> body);
  mlir::Value reduceLanes(Statement &statement, unsigned result, mlir::Value vector);
  Results combine(Statement &statement, mlir::ValueRange lhs, mlir::ValueRange rhs);

  // Memory.
  Lanes readAccess(const Statement &statement, const Access &access, const Step &step);
  Index addressOf(const Statement &statement, const Storage &storage, const Linear &linear, const Step &step);
  Index evaluateLinear(const Statement &statement, const Linear &linear, const Step &step);
  SymbolicSize laneStride(const Statement &statement, const Storage &storage, const Linear &linear) const;
  Lanes elementOf(const Storage &storage, llvm::ArrayRef<Lanes> indices, const Step &step);
  Lanes evaluateExpr(mlir::AffineExpr expr, llvm::ArrayRef<Lanes> dims);
  Lanes binary(llvm::StringRef name, Lanes lhs, Lanes rhs);

  // Loops.
  Results emitLoop(Index low, Index high, int64_t step, mlir::ValueRange init, LoopBody body);
  Index minimum(Index lhs, Index rhs);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Program &program;
  LaneBuilder lanes;

  llvm::DenseMap<const Storage *, mlir::Value> scratchSizes; // where they are not constant
  llvm::SmallVector<Index> rowIndices;
  Index stripLow, stripHigh; // of the shared vector loop
  int64_t widest = 1;        // vectors of all phases
  int64_t stripCapacity = 0; // lanes of a strip in per-strip scratch; 0: no such scratch
  llvm::DenseMap<const Statement *, llvm::SmallVector<Index>> loopIndices;
  llvm::DenseMap<mlir::Value, mlir::Value> rowScalars; // of this row
  llvm::DenseMap<mlir::Value, Lanes> forwarded;        // of this step
  llvm::DenseMap<unsigned, Lanes> inputOverrides;      // values of inputs that are in registers already
};

/// A mask of the first `count` of `width` lanes.
mlir::Value makeMask(mlir::OpBuilder &builder, mlir::Location loc, int64_t width, int64_t count);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PROGRAMEMITTER_H
