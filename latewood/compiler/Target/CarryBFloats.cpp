// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To instruction selection a vector of bf16 is no type of a CPU without BF16 hardware: whatever does more with one than
// load it and store it becomes code element by element, and much of it at that. Their bits are a type that every CPU
// has. So vectors are loaded, chosen, shuffled and stored as integers, and widening is a shift.
//
// In:  any module.
// Out: no vector of bf16 is in memory, in a phi, or moved; casts between both types that are left over fold away.

#include "latewood/compiler/Target/CarryBFloats.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace latewood::target {

static bool isBFloats(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getElementType()->isBFloatTy();
}

static Type *bitsOf(Type *type) {
  return FixedVectorType::get(Type::getInt16Ty(type->getContext()), cast<FixedVectorType>(type)->getNumElements());
}

// The same instruction on bits, or null for those that compute.
static Value *onBits(IRBuilder<> &builder, Instruction &old) {
  auto bits = [&](Value *value) { return builder.CreateBitCast(value, bitsOf(value->getType())); };
  auto scalarBits = [&](Value *value) { return builder.CreateBitCast(value, builder.getInt16Ty()); };
  if (auto *load = dyn_cast<LoadInst>(&old)) {
    if (load->isVolatile() || load->isAtomic())
      return nullptr;
    LoadInst *made = builder.CreateAlignedLoad(bitsOf(load->getType()), load->getPointerOperand(), load->getAlign());
    made->copyMetadata(*load, {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
                               LLVMContext::MD_nontemporal, LLVMContext::MD_invariant_load});
    return made;
  }
  if (auto *store = dyn_cast<StoreInst>(&old)) {
    if (store->isVolatile() || store->isAtomic())
      return nullptr;
    StoreInst *made =
        builder.CreateAlignedStore(bits(store->getValueOperand()), store->getPointerOperand(), store->getAlign());
    made->copyMetadata(*store, {LLVMContext::MD_tbaa, LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
                                LLVMContext::MD_nontemporal});
    return made;
  }
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&old))
    return builder.CreateShuffleVector(bits(shuffle->getOperand(0)), bits(shuffle->getOperand(1)),
                                       shuffle->getShuffleMask());
  if (auto *select = dyn_cast<SelectInst>(&old))
    return builder.CreateSelect(select->getCondition(), bits(select->getTrueValue()), bits(select->getFalseValue()));
  if (auto *freeze = dyn_cast<FreezeInst>(&old))
    return builder.CreateFreeze(bits(freeze->getOperand(0)));
  if (auto *insert = dyn_cast<InsertElementInst>(&old))
    return builder.CreateInsertElement(bits(insert->getOperand(0)), scalarBits(insert->getOperand(1)),
                                       insert->getOperand(2));
  if (auto *extract = dyn_cast<ExtractElementInst>(&old))
    return builder.CreateExtractElement(bits(extract->getVectorOperand()), extract->getIndexOperand());
  if (auto *widened = dyn_cast<FPExtInst>(&old)) {
    if (!widened->getType()->getScalarType()->isFloatTy())
      return nullptr;
    auto *words = FixedVectorType::get(builder.getInt32Ty(), cast<FixedVectorType>(old.getType())->getNumElements());
    return builder.CreateShl(builder.CreateZExt(bits(widened->getOperand(0)), words), ConstantInt::get(words, 16));
  }
  auto *call = dyn_cast<IntrinsicInst>(&old);
  if (!call)
    return nullptr;
  switch (call->getIntrinsicID()) {
  case Intrinsic::masked_load:
    return builder.CreateMaskedLoad(bitsOf(old.getType()), call->getArgOperand(0), call->getParamAlign(0).valueOrOne(),
                                    call->getArgOperand(1), bits(call->getArgOperand(2)));
  case Intrinsic::masked_gather:
    return builder.CreateMaskedGather(bitsOf(old.getType()), call->getArgOperand(0),
                                      call->getParamAlign(0).valueOrOne(), call->getArgOperand(1),
                                      bits(call->getArgOperand(2)));
  case Intrinsic::masked_store:
    return builder.CreateMaskedStore(bits(call->getArgOperand(0)), call->getArgOperand(1),
                                     call->getParamAlign(1).valueOrOne(), call->getArgOperand(2));
  case Intrinsic::masked_scatter:
    return builder.CreateMaskedScatter(bits(call->getArgOperand(0)), call->getArgOperand(1),
                                       call->getParamAlign(1).valueOrOne(), call->getArgOperand(2));
  default:
    return nullptr;
  }
}

static void replacePhi(PHINode &old) {
  IRBuilder<> builder(&old);
  PHINode *phi = builder.CreatePHI(bitsOf(old.getType()), old.getNumIncomingValues());
  builder.SetInsertPoint(old.getParent(), old.getParent()->getFirstInsertionPt());
  old.replaceAllUsesWith(builder.CreateBitCast(phi, old.getType()));
  for (unsigned i = 0; i < old.getNumIncomingValues(); ++i) {
    builder.SetInsertPoint(old.getIncomingBlock(i)->getTerminator());
    phi->addIncoming(builder.CreateBitCast(old.getIncomingValue(i), phi->getType()), old.getIncomingBlock(i));
  }
  old.eraseFromParent();
}

void carryBFloats(Module &module) {
  SmallVector<Instruction *> moves;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isBFloats(instruction.getType()) ||
          llvm::any_of(instruction.operands(), [](Value *operand) { return isBFloats(operand->getType()); }))
        moves.push_back(&instruction);
  for (Instruction *old : moves) {
    if (auto *phi = dyn_cast<PHINode>(old)) {
      replacePhi(*phi);
      continue;
    }
    IRBuilder<> builder(old);
    Value *made = onBits(builder, *old);
    if (!made)
      continue;
    if (!old->getType()->isVoidTy())
      old->replaceAllUsesWith(builder.CreateBitCast(made, old->getType()));
    old->eraseFromParent();
  }
}

} // namespace latewood::target
