// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of operands that are known to be zero become zero, before LLVM's instruction selection sees them.

#include "latewood/compiler/Target/FoldKnownSums.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

bool latewood::target::foldKnownSums(Module &module) {
  bool changed = false;
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::vector_reduce_add ||
          !computeKnownBits(call->getArgOperand(0), module.getDataLayout()).isZero())
        continue;
      call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
      call->eraseFromParent();
      changed = true;
    }
  return changed;
}
