// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the math dialect, on scalars and on vectors of all shapes, become library calls, and compute the right
// values in an image.

#include "latewood/compiler/Engines/CPU/MathToLibrary.h"
#include "latewood/compiler/Target/Codegen.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cmath>
#include <dlfcn.h>

using namespace mlir;
using namespace latewood;

namespace {

class MathToLibrary : public ::testing::Test {
protected:
  MathToLibrary() {
    DialectRegistry registry;
    registry
        .insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, vector::VectorDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> lower(StringRef text, const target::Target &target) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    RewritePatternSet patterns(&context);
    cpu::populateMathToLibraryPatterns(patterns, target);
    EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, std::move(patterns))));
    EXPECT_TRUE(succeeded(verify(*module)));
    return module;
  }

  /// Lowers everything, and calls function `run` of the image with two pointers.
  void run(StringRef text, const target::Target &target, const void *in, void *out) {
    OwningOpRef<ModuleOp> module = lower(text, target);
    PassManager passes(&context);
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createConvertFuncToLLVMPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    llvm::LLVMContext llvmContext;
    std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*module, llvmContext);
    ASSERT_TRUE(llvmModule);
    auto image = target::compileToImage(std::move(llvmModule), target, {"run"});
    ASSERT_TRUE(static_cast<bool>(image)) << toString(image.takeError());
    SmallString<64> path;
    int descriptor;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("latewood-test", "so", descriptor, path));
    {
      llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
      os.write(image->data(), image->size());
    }
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    reinterpret_cast<void (*)(const void *, void *)>(dlsym(handle, "run"))(in, out);
    dlclose(handle);
    llvm::sys::fs::remove(path);
  }

  MLIRContext context;
};

target::Target getNative() { return cantFail(target::Target::resolve("native")); }

TEST_F(MathToLibrary, LeavesNoMathBehind) {
  for (target::Level level : {target::Level::V3, target::Level::V4}) {
    OwningOpRef<ModuleOp> module = lower(R"(
      func.func @f(%a: f32, %b: vector<16xf32>, %c: vector<3x5xf64>, %d: vector<bf16>, %e: vector<7xf16>)
          -> (f32, f32, f32, vector<16xf32>, vector<3x5xf64>, vector<bf16>, vector<7xf16>) {
        %0 = math.exp %a : f32
        %1, %2 = math.sincos %a : f32
        %3 = math.powf %b, %b : vector<16xf32>
        %4 = math.atan2 %c, %c : vector<3x5xf64>
        %5 = math.tanh %d : vector<bf16>
        %6 = arith.remf %e, %e : vector<7xf16>
        return %0, %1, %2, %3, %4, %5, %6 : f32, f32, f32, vector<16xf32>, vector<3x5xf64>, vector<bf16>, vector<7xf16>
      })",
                                         target::Target(level));
    int calls = 0;
    module->walk([&](Operation *op) {
      EXPECT_NE(op->getName().getDialectNamespace(), "math") << op->getName().getStringRef().str();
      EXPECT_FALSE(isa<arith::RemFOp>(op));
      calls += isa<func::CallOp>(op);
    });
    // exp, sin, cos; pow in one or two pieces; 15 f64 in 2 (8 + 7) or 4 pieces; tanh; remainder.
    EXPECT_EQ(calls, level == target::Level::V4 ? 3 + 1 + 4 + 1 + 2 : 3 + 2 + 5 + 1 + 2);
  }
}

TEST_F(MathToLibrary, ComputesOddLengths) {
  for (const target::Target &target : {target::Target(target::Level::V3), getNative()})
    for (int length : {1, 2, 3, 4, 5, 8, 13, 16, 31, 37}) {
      std::string type = "vector<" + std::to_string(length) + "xf32>";
      std::string text = "func.func @run(%in: !llvm.ptr, %out: !llvm.ptr) {\n"
                         "  %v = llvm.load %in {alignment = 4 : i64} : !llvm.ptr -> " +
                         type +
                         "\n"
                         "  %r = math.exp %v : " +
                         type +
                         "\n"
                         "  llvm.store %r, %out {alignment = 4 : i64} : " +
                         type +
                         ", !llvm.ptr\n"
                         "  return\n}\n";
      std::vector<float> in(length), out(length + 1, 42);
      for (int i = 0; i < length; ++i)
        in[i] = static_cast<float>(i - 5);
      run(text, target, in.data(), out.data());
      for (int i = 0; i < length; ++i)
        EXPECT_NEAR(out[i] / std::exp(in[i]), 1, 2e-7) << length << " " << i;
      EXPECT_EQ(out[length], 42);
    }
}

TEST_F(MathToLibrary, ComputesNarrowTypesInF32) {
  uint16_t in[8] = {0x3f80, 0xbf80, 0x4000, 0x0000, 0x7f80, 0x7fc0, 0xff80, 0x3f00}, out[8]; // bf16
  run(R"(
    func.func @run(%in: !llvm.ptr, %out: !llvm.ptr) {
      %v = llvm.load %in {alignment = 2 : i64} : !llvm.ptr -> vector<8xbf16>
      %r = math.tanh %v : vector<8xbf16>
      llvm.store %r, %out {alignment = 2 : i64} : vector<8xbf16>, !llvm.ptr
      return
    })",
      target::Target(target::Level::V3), in, out);
  uint16_t expected[8] = {0x3f43, 0xbf43, 0x3f77, 0x0000, 0x3f80, 0x7fc0, 0xbf80, 0x3eed};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST_F(MathToLibrary, EmitsFunctionsWithoutAnOperation) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>("func.func @f(%a: vector<2x3xf32>) { return }", &context);
  auto function = *module->getOps<func::FuncOp>().begin();
  OpBuilder builder(&function.getBody().front(), function.getBody().front().begin());
  target::Target target(target::Level::V3);
  Value argument = function.getArgument(0);
  Value result = cpu::emitLibraryCall(builder, function.getLoc(), "logistic", argument, target);
  ASSERT_TRUE(result);
  EXPECT_EQ(result.getType(), argument.getType());
  EXPECT_TRUE(module->lookupSymbol("lw_logistic_f32x4"));
  EXPECT_FALSE(cpu::emitLibraryCall(builder, function.getLoc(), "no_such_function", argument, target));
  EXPECT_FALSE(cpu::emitLibraryCall(builder, function.getLoc(), "pow", argument, target)) << "one operand of two";
}

} // namespace
