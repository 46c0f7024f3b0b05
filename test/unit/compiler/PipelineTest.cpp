// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline as an object: its text is what it is. What is tested on programs (equal bytes whichever way is taken) is
// in test/python; here is what needs no program, or a pass that fails on purpose.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/OptionText.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <random>

using namespace latewood::driver;

namespace {

constexpr llvm::StringLiteral program = R"(func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

template <typename T>
T take(llvm::Expected<T> value) {
  if (!value)
    ADD_FAILURE() << llvm::toString(value.takeError());
  return std::move(*value);
}

template <typename T>
std::string getError(llvm::Expected<T> value) {
  if (value)
    return "";
  return llvm::toString(value.takeError());
}

StableHLOToExecutableOptions getOptions() { return take(StableHLOToExecutableOptions::parse({"--target=x86-64-v3"})); }

// Fails on the operation whose location it is told, so that the error has a place.
struct FailOnPurposePass : mlir::PassWrapper<FailOnPurposePass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FailOnPurposePass)
  llvm::StringRef getArgument() const override { return "test-fail-on-purpose"; }
  void runOnOperation() override {
    getOperation().walk([&](mlir::Operation *op) {
      if (op->getName().getStringRef() == "stablehlo.add") {
        op->emitError("refused on purpose").attachNote() << "because the test wants it";
        signalPassFailure();
      }
    });
  }
};

TEST(OptionText, EveryStringSurvives) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (unsigned length = random() % 12; text.size() < length;)
      text += static_cast<char>(i % 2 ? random() % 256 : " ,'\"{}%=;[]()\\\n-a0"[random() % 18]);
    std::string encoded = encodeOptionText(text);
    EXPECT_EQ(decodeOptionText(encoded), text);
    EXPECT_EQ(encoded.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+./:=@-%"),
              std::string::npos);
  }
}

TEST(OptionText, EveryStringSurvivesAPipeline) {
  for (llvm::StringRef text : {"plain", "a b", "a,b", "{a}", "a{b", "'q'", "\"q", " lead", "\n", "", "--x=y z", "ä€"}) {
    mlir::OpPassManager passes("builtin.module");
    RecordOptionsPassOptions options;
    options.optionText = encodeOptionText(text);
    passes.addPass(createRecordOptionsPass(options));
    std::string printed;
    llvm::raw_string_ostream os(printed);
    passes.printAsTextualPipeline(os);
    Pipeline parsed = take(Pipeline::parse(printed));
    EXPECT_EQ(parsed.str(), printed);
    EXPECT_NE(printed.find("options=" + encodeOptionText(text)), std::string::npos) << printed;
  }
}

TEST(Pipeline, PrintedFormsAreTheSamePipeline) {
  Pipeline pipeline = take(Pipeline::stableHLOToExecutable(getOptions()));
  EXPECT_EQ(take(Pipeline::parse(pipeline.str())), pipeline);
  EXPECT_EQ(take(Pipeline::parse(pipeline.pretty())), pipeline);
  std::string phases = take(Pipeline::phasesText(getOptions()));
  EXPECT_EQ(take(Pipeline::parse(phases)), pipeline);
  EXPECT_EQ(pipeline.phases(),
            (std::vector<std::string>{"import", "input", "cluster", "engines", "bufferize", "lower"}));
}

TEST(Pipeline, EveryPassIsRegistered) {
  Pipeline pipeline = take(Pipeline::stableHLOToExecutable(getOptions()));
  for (const std::string &pass : pipeline.passes())
    EXPECT_EQ(getError(Pipeline::parse("builtin.module(" + pass + ")")), "") << pass;
}

TEST(Pipeline, AnOptionChangesTheExpectedPassesOnly) {
  std::vector<std::string> a = take(Pipeline::stableHLOToExecutable(getOptions())).passes();
  auto options = take(StableHLOToExecutableOptions::parse({"--target=x86-64-v4"}));
  std::vector<std::string> b = take(Pipeline::stableHLOToExecutable(options)).passes();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(a[i] != b[i], llvm::StringRef(a[i]).starts_with("latewood-record-options")) << a[i];
}

TEST(Pipeline, PrintingAndParsingAThousandTimesIsStable) {
  Pipeline pipeline = take(Pipeline::stableHLOToExecutable(getOptions()));
  std::string text = pipeline.str();
  for (int i = 0; i < 1000; ++i)
    text = take(Pipeline::parse(text)).str();
  EXPECT_EQ(text, pipeline.str());
}

TEST(Pipeline, UnknownNamesAreErrorsWithCloseMatches) {
  auto contains = [](const std::string &text, llvm::StringRef part) { return llvm::StringRef(text).contains(part); };
  std::string pass = getError(Pipeline::parse("builtin.module(latewood-outline-cluster)"));
  EXPECT_TRUE(contains(pass, "latewood-outline-clusters")) << pass;
  std::string phase = getError(Pipeline::parse("builtin.module(latewood-imput)"));
  EXPECT_TRUE(contains(phase, "latewood-input")) << phase;
  std::string option = getError(Pipeline::parse("builtin.module(latewood-finish-phase{nam=import})"));
  EXPECT_TRUE(contains(option, "name")) << option;
  std::string anchor = getError(Pipeline::parse("func.func(canonicalize)"));
  EXPECT_TRUE(contains(anchor, "builtin.module")) << anchor;
  std::string user = getError(StableHLOToExecutableOptions::parse({"--engine=cpu"}));
  EXPECT_TRUE(contains(user, "--engines")) << user;
  std::string value = getError(StableHLOToExecutableOptions::parse({"--engines=gpu"}));
  EXPECT_TRUE(contains(value, "the engines are cpu")) << value;
  EXPECT_NE(getError(StableHLOToExecutableOptions::parse({"target"})), "");
  EXPECT_NE(getError(StableHLOToExecutableOptions::parse({"--target"})), "");
}

TEST(Pipeline, AFailingPassIsNamedWithPlaceAndLine) {
  mlir::PassRegistration<FailOnPurposePass>();
  Module module = take(Module::parse(program, "prog.mlir"));
  std::string before = module.str();
  Pipeline pipeline = take(Pipeline::parse("builtin.module(test-fail-on-purpose,latewood-finish-phase{name=import})"));
  testing::internal::CaptureStderr();
  std::string text = llvm::toString(pipeline.run(module));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(text, "compilation failed in phase import\n"
                  "prog.mlir:2:8: error: refused on purpose\n"
                  "      %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
                  "           ^\n"
                  "    in pass test-fail-on-purpose\n"
                  "  prog.mlir:2:8: note: because the test wants it\n"
                  "      %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
                  "           ^");
  EXPECT_EQ(module.str(), before);
}

TEST(Pipeline, AFailureLeavesAReproducer) {
  mlir::PassRegistration<FailOnPurposePass>();
  Module module = take(Module::parse(program, "prog.mlir"));
  Pipeline pipeline = take(Pipeline::parse("builtin.module(test-fail-on-purpose)"));
  llvm::SmallString<64> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("reproducer", "mlir", path));
  Pipeline::RunOptions options;
  options.reproducer = path.str().str();
  EXPECT_NE(llvm::toString(pipeline.run(module, options)), "");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(static_cast<bool>(buffer));
  EXPECT_TRUE(
      (*buffer)->getBuffer().starts_with("// latewood-opt --pass-pipeline='builtin.module(test-fail-on-purpose)'"));
  Module again = take(Module::parse((*buffer)->getBuffer(), "reproducer.mlir"));
  EXPECT_NE(llvm::toString(pipeline.run(again)), "");
  llvm::sys::fs::remove(path);
}

TEST(Pipeline, PhasesMustFollowEachOther) {
  Module module = take(Module::parse(program, "prog.mlir"));
  Pipeline pipeline = take(Pipeline::stableHLOToExecutable(getOptions()));
  Pipeline::RunOptions options;
  options.since = "cluster";
  EXPECT_EQ(llvm::toString(pipeline.run(module, options)),
            "the module cannot continue after phase 'cluster': it has finished no phase");
  EXPECT_NE(getError(translate(module)), "");
}

} // namespace
