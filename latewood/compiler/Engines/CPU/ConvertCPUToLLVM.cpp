// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on buffers become functions on pointers, in the LLVM dialect.
//
// In: func, scf, arith, vector and memref, one-dimensional vectors, cpu.parallel_for; memory is planned. Out: llvm.func
// only. A buffer argument becomes a bare pointer, also one of dynamic shape: `plan.extents` says which arguments hold
// its extents. A parallel loop becomes a frame on the stack with the captured values, and a call of the runtime's
// `parallel_for` (latewood/format/abi.h) with an *entry* function, which takes the frame apart and calls the body. The
// body is inlined there, and `noalias` of its arguments with it.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Engines/CPU/PassedBuffers.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/compiler/Target/ABI.h"
#include "latewood/format/abi.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_CONVERTCPUTOLLVMPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

constexpr llvm::StringLiteral entrySuffix = "_entry";

/// A buffer without elements has no strides, and a type without strides no pointer form. Nothing reads it or writes it:
/// it is passed like an empty one of one dimension.
void flattenEmptyArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() != 0 || !argument.use_empty())
      continue;
    argument.setType(MemRefType::get({0}, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace()));
  }
  function.setType(
      FunctionType::get(function.getContext(), function.front().getArgumentTypes(), function.getResultTypes()));
}

/// A buffer of dynamic shape arrives as its base; the extents are arguments of their own.
LogicalResult rebuildDynamicArguments(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    std::optional<SmallVector<Value>> extents = getDynamicExtents(builder, argument);
    if (!extents || !type.getLayout().isIdentity())
      return function.emitError("argument ")
             << argument.getArgNumber() << ", " << type
             << ", has dynamic extents that no argument holds, or a layout that is not the canonical one";
    auto base = MemRefType::get({}, type.getElementType(), MemRefLayoutAttrInterface(), type.getMemorySpace());
    SmallVector<OpFoldResult> sizes = getMixedValues(type.getShape(), *extents, builder);
    SmallVector<OpFoldResult> strides = computeCanonicalStrides(builder, function.getLoc(), sizes);
    for (auto [stride, known] : llvm::zip_equal(strides, type.getStridesAndOffset().first))
      if (ShapedType::isDynamic(known))
        stride = getValueOrCreateConstantIndexOp(builder, function.getLoc(), stride);
    auto rebuilt = memref::ReinterpretCastOp::create(builder, function.getLoc(), type, argument,
                                                     builder.getIndexAttr(0), sizes, strides);
    argument.replaceAllUsesExcept(rebuilt, rebuilt);
    argument.setType(base);
    function.removeArgAttr(argument.getArgNumber(), plan::PlanDialect::getExtentsAttrName());
  }
  function.setType(
      FunctionType::get(function.getContext(), function.front().getArgumentTypes(), function.getResultTypes()));
  return success();
}

/// Without the memory that it asks for, a function returns at once; the runtime has recorded why.
void returnWithoutMemory(func::FuncOp function) {
  for (AllocateOp op : llvm::to_vector(function.front().getOps<AllocateOp>())) {
    Location loc = op.getLoc();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, op.getMemory());
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, address,
                                         arith::ConstantIndexOp::create(builder, loc, 0));
    Block *block = op->getBlock(), *rest = block->splitBlock(builder.getInsertionPoint());
    Block *end = builder.createBlock(&function.getBody(), function.getBody().end());
    func::ReturnOp::create(builder, loc);
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, failed, end, rest);
  }
}

/// A value in the form in which it is passed: a buffer as a pointer.
Value toPassed(OpBuilder &b, Location loc, Value original, Value converted) {
  if (isa<MemRefType>(original.getType()))
    return MemRefDescriptor(converted).alignedPtr(b, loc);
  return converted;
}

Type passedType(const LLVMTypeConverter &converter, Type type) {
  if (isa<MemRefType>(type))
    return LLVM::LLVMPointerType::get(type.getContext());
  return converter.convertType(type);
}

/// @body_entry(frame, begin, end, scratch): loads what was captured and calls @body.
void createEntry(func::FuncOp body, const LLVMTypeConverter &converter) {
  MLIRContext *context = body.getContext();
  Location loc = body.getLoc();
  OpBuilder builder(body);
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, (body.getName() + entrySuffix).str(), abi::getBodyType(context),
                                        LLVM::Linkage::Internal);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Type> fields, parameters;
  for (Type type : body.getArgumentTypes())
    parameters.push_back(passedType(converter, type));
  fields.assign(parameters.begin() + 2, parameters.end() - 1);
  auto frame = LLVM::LLVMStructType::getLiteral(context, fields);
  SmallVector<Value> operands = {block->getArgument(1), block->getArgument(2)};
  auto pointer = LLVM::LLVMPointerType::get(context);
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, frame, block->getArgument(0), ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, field, address));
  }
  operands.push_back(block->getArgument(3));
  LLVM::CallOp::create(builder, loc, TypeRange(), body.getName(), operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

struct ParallelForToCall : ConvertOpToLLVMPattern<ParallelForOp> {
  ParallelForToCall(const LLVMTypeConverter &converter, const llvm::StringMap<int64_t> &scratch)
      : ConvertOpToLLVMPattern(converter), scratch(scratch) {}

  LogicalResult matchAndRewrite(ParallelForOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto pointer = LLVM::LLVMPointerType::get(context);
    SmallVector<Value> values;
    SmallVector<Type> fields;
    for (auto [original, converted] : llvm::zip(op.getCaptured(), adaptor.getCaptured())) {
      values.push_back(toPassed(rewriter, loc, original, converted));
      fields.push_back(values.back().getType());
    }
    auto type = LLVM::LLVMStructType::getLiteral(context, fields);
    Value frame;
    {
      // In the entry block: a frame in a loop would grow the stack.
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
      Value one = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(), rewriter.getI64IntegerAttr(1));
      frame = LLVM::AllocaOp::create(rewriter, loc, pointer, type, one, /*alignment=*/8);
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      Value address = LLVM::GEPOp::create(rewriter, loc, pointer, type, frame, ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
      LLVM::StoreOp::create(rewriter, loc, value, address);
    }
    Value body = LLVM::AddressOfOp::create(rewriter, loc, pointer, (op.getBody() + entrySuffix).str());
    Value bytes = adaptor.getScratch();
    if (!bytes)
      bytes = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                       rewriter.getI64IntegerAttr(scratch.lookup(op.getBody())));
    abi::callApi(rewriter, loc, function.getArgument(0), abi::ApiEntry::ParallelFor,
                 {body, frame, adaptor.getTasks(), bytes});
    rewriter.eraseOp(op);
    return success();
  }

  const llvm::StringMap<int64_t> &scratch;
};

struct AllocateToCall : ConvertOpToLLVMPattern<AllocateOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(AllocateOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value call = op->getParentOfType<FunctionOpInterface>().getArgument(0);
    Value alignment =
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(), rewriter.getI64IntegerAttr(LATEWOOD_ALIGNMENT));
    Value address =
        abi::callApi(rewriter, loc, call, abi::ApiEntry::Allocate, {adaptor.getBytes(), alignment}).getResult();
    auto memory = MemRefDescriptor::poison(rewriter, loc, getTypeConverter()->convertType(op.getType()));
    memory.setAllocatedPtr(rewriter, loc, address);
    memory.setAlignedPtr(rewriter, loc, address);
    memory.setConstantOffset(rewriter, loc, 0);
    memory.setSize(rewriter, loc, 0, adaptor.getBytes());
    memory.setConstantStride(rewriter, loc, 0, 1);
    rewriter.replaceOp(op, Value(memory));
    return success();
  }
};

struct ReleaseToCall : ConvertOpToLLVMPattern<ReleaseOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(ReleaseOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Value call = op->getParentOfType<FunctionOpInterface>().getArgument(0);
    abi::callApi(rewriter, op.getLoc(), call, abi::ApiEntry::Release,
                 {MemRefDescriptor(adaptor.getMemory()).alignedPtr(rewriter, op.getLoc())});
    rewriter.eraseOp(op);
    return success();
  }
};

/// One lane is stored as a scalar. (LLVM 22 makes the same of a masked store whose mask is constant; where the vector
/// has been truncated, it then stores the whole element that was there before, over its neighbours.)
struct StoreSingleLane : OpRewritePattern<vector::MaskedStoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::MaskedStoreOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr mask;
    if (!matchPattern(op.getMask(), m_Constant(&mask)) || op.getVectorType().getRank() != 1)
      return failure();
    SmallVector<bool> lanes(mask.getValues<bool>());
    if (llvm::count(lanes, true) != 1)
      return failure();
    int64_t lane = llvm::find(lanes, true) - lanes.begin();
    Location loc = op.getLoc();
    SmallVector<Value> indices(op.getIndices());
    if (lane != 0)
      indices.back() =
          arith::AddIOp::create(rewriter, loc, indices.back(), arith::ConstantIndexOp::create(rewriter, loc, lane));
    Value element = vector::ExtractOp::create(rewriter, loc, op.getValueToStore(), lane);
    rewriter.replaceOpWithNewOp<memref::StoreOp>(op, element, op.getBase(), indices);
    return success();
  }
};

struct ConvertCPUToLLVMPass : cpu::impl::ConvertCPUToLLVMPassBase<ConvertCPUToLLVMPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(rebuildDynamicArguments(function)))
        return signalPassFailure();
      returnWithoutMemory(function);
    }
    if (failed(simplify(module)))
      return signalPassFailure();

    {
      RewritePatternSet patterns(context);
      populateSCFToControlFlowConversionPatterns(patterns);
      populateAffineToStdConversionPatterns(patterns);
      ConversionTarget target(*context);
      target.addIllegalDialect<scf::SCFDialect, affine::AffineDialect>();
      target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
      if (failed(applyPartialConversion(module, target, std::move(patterns))))
        return signalPassFailure();
    }

    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        flattenEmptyArguments(function);

    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);

    // Bodies of parallel loops, and the scratch that each needs.
    llvm::StringMap<int64_t> scratch;
    llvm::SmallPtrSet<Operation *, 8> bodies;
    for (auto function : module.getOps<func::FuncOp>())
      if (auto bytes = function->getAttrOfType<IntegerAttr>(ParallelForOp::getWorkspaceAttrName()))
        scratch[function.getName()] = bytes.getInt();
    WalkResult walk = module.walk([&](ParallelForOp op) {
      auto body = module.lookupSymbol<func::FuncOp>(op.getBody());
      if (!body || !scratch.contains(op.getBody())) {
        op.emitError("has no planned body");
        return WalkResult::interrupt();
      }
      if (bodies.insert(body).second)
        createEntry(body, converter);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();

    RewritePatternSet patterns(context);
    patterns.add<ParallelForToCall>(converter, scratch);
    patterns.add<AllocateToCall, ReleaseToCall>(converter);
    SymbolTableCollection symbols;
    populateFuncToLLVMConversionPatterns(converter, patterns, &symbols);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns, &symbols);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns, /*reassociateFPReductions=*/false);
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    target.addDynamicallyLegalDialect<LLVM::LLVMDialect>([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();

    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
    reconcileUnrealizedCasts(casts);
    finish(module);
  }

  /// A dimension that becomes several of unknown extents: upstream's pattern computes one of them from the others, and
  /// here all are given.
  static void reinterpretExpansions(ModuleOp module) {
    module.walk([](memref::ExpandShapeOp expand) {
      auto type = cast<MemRefType>(expand.getType());
      bool isSeveral = llvm::any_of(expand.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
        return llvm::count_if(group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
      });
      if (!isSeveral || !type.getLayout().isIdentity() ||
          !cast<MemRefType>(expand.getSrc().getType()).getLayout().isIdentity())
        return;
      OpBuilder builder(expand);
      Location loc = expand.getLoc();
      SmallVector<OpFoldResult> sizes = getMixedValues(type.getShape(), expand.getOutputShape(), builder);
      SmallVector<OpFoldResult> strides(sizes.size());
      OpFoldResult stride = builder.getIndexAttr(1);
      for (size_t dim = sizes.size(); dim-- > 0;) {
        strides[dim] = stride;
        auto known = getConstantIntValue(stride), extent = getConstantIntValue(sizes[dim]);
        if (known && extent)
          stride = builder.getIndexAttr(*known * *extent);
        else
          stride = builder.createOrFold<arith::MulIOp>(loc, getValueOrCreateConstantIndexOp(builder, loc, stride),
                                                       getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]));
      }
      // The layout is written with the strides that are known, and read as the identity again.
      SmallVector<int64_t> known;
      for (OpFoldResult entry : strides)
        known.push_back(getConstantIntValue(entry).value_or(ShapedType::kDynamic));
      auto strided = MemRefType::get(type.getShape(), type.getElementType(),
                                     StridedLayoutAttr::get(type.getContext(), 0, known), type.getMemorySpace());
      Value view = memref::ReinterpretCastOp::create(builder, loc, strided, expand.getSrc(), builder.getIndexAttr(0),
                                                     sizes, strides);
      expand.replaceAllUsesWith(memref::CastOp::create(builder, loc, type, view).getResult());
      expand.erase();
    });
  }

  /// Forms that have no direct counterpart become ones that have.
  LogicalResult simplify(ModuleOp module) {
    reinterpretExpansions(module);
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    memref::populateResolveExtractStridedMetadataPatterns(patterns);
    arith::populateArithExpandOpsPatterns(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::Shuffle1D);
    vector::populateVectorBitCastLoweringPatterns(patterns);
    patterns.add<StoreSingleLane>(&getContext());
    return applyPatternsGreedily(module, std::move(patterns));
  }

  /// Keeps truncated vectors and what they are loaded from apart. (LLVM 22 takes an element of the truncation of a
  /// loaded vector for what is in memory at the place that the element has in the narrow vector; freeze is nothing to
  /// the machine, and hides the load.)
  static void freezeBeforeTruncation(ModuleOp module) {
    module.walk([](LLVM::TruncOp op) {
      if (!isa<VectorType>(op.getType()))
        return;
      OpBuilder builder(op);
      op.getArgMutable().assign(LLVM::FreezeOp::create(builder, op.getLoc(), op.getArg()));
    });
  }

  void finish(ModuleOp module) {
    freezeBeforeTruncation(module);
    // A buffer was a descriptor, taken apart where it is used: only the pointer is left of it.
    module.walk([&](LLVM::ExtractValueOp op) {
      Operation *container = op.getContainer().getDefiningOp();
      SmallVector<int64_t> position(op.getPosition());
      while (auto insert = dyn_cast_or_null<LLVM::InsertValueOp>(container)) {
        if (insert.getPosition() == ArrayRef(position)) {
          op.replaceAllUsesWith(insert.getValue());
          op.erase();
          return;
        }
        // Parts of one another are left to LLVM.
        if (insert.getPosition().front() == position.front() && insert.getPosition().size() != position.size())
          return;
        container = insert.getContainer().getDefiningOp();
      }
    });
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      for (Block &block : function.getBody())
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op))
            op.erase();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      // Inlined again, kernels would be the large function that they were taken out of.
      if (function->removeAttr(kKernelAttrName))
        function.setNoInline(true);
      // What the `plan` dialect said about arguments has been used.
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        for (StringRef name : {plan::PlanDialect::getOutAttrName(), plan::PlanDialect::getConstantAttrName()})
          function.removeArgAttr(i, name);
    }
  }
};

} // namespace
