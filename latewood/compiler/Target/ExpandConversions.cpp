// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without BF16 hardware `fptrunc <N x float> to <N x bfloat>` becomes N calls of __truncsfbf2; with it, an instruction
// that flushes subnormal numbers. Both are wrong for vector code, so the conversion never reaches instruction
// selection.

#include "latewood/compiler/Target/ExpandConversions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace latewood::target {

static Value *expandToBFloat(IRBuilder<> &builder, Value *value, Type *resultType) {
  Type *i32 = builder.getInt32Ty(), *i16 = builder.getInt16Ty();
  if (auto *vector = dyn_cast<VectorType>(value->getType())) {
    i32 = VectorType::get(i32, vector->getElementCount());
    i16 = VectorType::get(i16, vector->getElementCount());
  }
  Value *bits = builder.CreateBitCast(value, i32);
  Value *high = builder.CreateLShr(bits, ConstantInt::get(i32, 16));
  Value *odd = builder.CreateAnd(high, ConstantInt::get(i32, 1));
  Value *rounded = builder.CreateAdd(builder.CreateAdd(bits, ConstantInt::get(i32, 0x7fff)), odd);
  rounded = builder.CreateLShr(rounded, ConstantInt::get(i32, 16));
  Value *quiet = builder.CreateOr(high, ConstantInt::get(i32, 0x40));
  Value *result = builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
  return builder.CreateBitCast(builder.CreateTrunc(result, i16), resultType);
}

bool expandConversions(Module &module) {
  SmallVector<FPTruncInst *> conversions;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *conversion = dyn_cast<FPTruncInst>(&instruction))
        if (conversion->getType()->getScalarType()->isBFloatTy() &&
            conversion->getOperand(0)->getType()->getScalarType()->isFloatTy())
          conversions.push_back(conversion);
  for (FPTruncInst *conversion : conversions) {
    IRBuilder<> builder(conversion);
    conversion->replaceAllUsesWith(expandToBFloat(builder, conversion->getOperand(0), conversion->getType()));
    conversion->eraseFromParent();
  }
  return !conversions.empty();
}

} // namespace latewood::target
