// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caller stores each value where it becomes known, the function loads it where it is used: no value is kept in
// between. Such a function is not inlined, so that the structure never changes while it can be seen.

#include "latewood/compiler/Target/PassArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace latewood::target {

namespace {

/// Up to here, registers and stack do well, and `noalias` of arguments is worth more.
constexpr unsigned kMostParameters = 96;

bool isCalledByName(const Function &function) {
  return all_of(function.uses(), [](const Use &use) {
    const auto *call = dyn_cast<CallInst>(use.getUser());
    return call && call->isCallee(&use);
  });
}

/// The place right after `value` has been computed; null where that is no instruction.
Instruction *placeAfter(Value *value) {
  auto *definition = dyn_cast<Instruction>(value);
  if (!definition || definition->isTerminator())
    return nullptr;
  if (isa<PHINode>(definition))
    return &*definition->getParent()->getFirstInsertionPt();
  return definition->getNextNode();
}

void rewriteCall(CallInst *call, Function *callee, StructType *structure) {
  BasicBlock &entry = call->getFunction()->getEntryBlock();
  IRBuilder<> builder(&entry, entry.begin());
  Value *memory = builder.CreateAlloca(structure);
  for (auto [i, operand] : enumerate(call->args())) {
    Instruction *place = placeAfter(operand);
    builder.SetInsertPoint(place ? place : call);
    builder.CreateStore(operand, builder.CreateStructGEP(structure, memory, i));
  }
  builder.SetInsertPoint(call);
  CallInst *smaller = builder.CreateCall(callee, {memory});
  smaller->setCallingConv(call->getCallingConv());
  call->replaceAllUsesWith(smaller);
  call->eraseFromParent();
}

void rewriteFunction(Function *function) {
  LLVMContext &context = function->getContext();
  SmallVector<Type *> types;
  for (Argument &argument : function->args())
    types.push_back(argument.getType());
  StructType *structure = StructType::get(context, types);
  auto *type = FunctionType::get(function->getReturnType(), {PointerType::get(context, 0)}, /*isVarArg=*/false);
  Function *smaller = Function::Create(type, function->getLinkage(), function->getAddressSpace());
  function->getParent()->getFunctionList().insert(function->getIterator(), smaller);
  smaller->takeName(function);
  smaller->setVisibility(function->getVisibility());
  smaller->setCallingConv(function->getCallingConv());
  smaller->setAttributes(
      AttributeList::get(context, function->getAttributes().getFnAttrs(), function->getAttributes().getRetAttrs(), {}));
  smaller->removeFnAttr(Attribute::AlwaysInline);
  smaller->addFnAttr(Attribute::NoInline);
  smaller->splice(smaller->begin(), function);

  Argument *memory = smaller->getArg(0);
  memory->addAttr(Attribute::NoAlias);
  memory->addAttr(Attribute::ReadOnly);
  MDNode *nothing = MDNode::get(context, {});
  for (Argument &argument : function->args())
    for (Use &use : make_early_inc_range(argument.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      if (auto *phi = dyn_cast<PHINode>(user))
        user = phi->getIncomingBlock(use)->getTerminator();
      IRBuilder<> builder(user);
      LoadInst *load =
          builder.CreateLoad(argument.getType(), builder.CreateStructGEP(structure, memory, argument.getArgNo()));
      load->setMetadata(LLVMContext::MD_invariant_load, nothing);
      use.set(load);
    }
  for (User *user : make_early_inc_range(function->users()))
    rewriteCall(cast<CallInst>(user), smaller, structure);
  function->eraseFromParent();
}

} // namespace

void passArgumentsInMemory(Module &module) {
  SmallVector<Function *> large;
  for (Function &function : module)
    if (!function.isDeclaration() && !function.isVarArg() && function.arg_size() > kMostParameters &&
        isCalledByName(function))
      large.push_back(&function);
  for (Function *function : large)
    rewriteFunction(function);
}

} // namespace latewood::target
