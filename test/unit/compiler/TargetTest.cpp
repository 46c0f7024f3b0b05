// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets, code generation and linking: LLVM modules become images that the dynamic linker can load, and what cannot
// become one is refused with a reason.

#include "latewood/compiler/Target/Target.h"
#include "latewood/compiler/Target/Codegen.h"
#include "latewood/compiler/Target/DeviceLibrary.h"
#include "latewood/compiler/Target/Link.h"
#include "latewood/compiler/Target/MathLibrary.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdio>
#include <dlfcn.h>

using namespace llvm;
using namespace latewood::target;

namespace {

Target getNative() { return cantFail(Target::resolve("native")); }

std::unique_ptr<Module> parse(StringRef text, LLVMContext &context) {
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(text, diagnostic, context);
  if (!module)
    diagnostic.print("test", errs());
  return module;
}

Expected<Bytes> compile(StringRef text, const Target &target, ArrayRef<std::string> entries) {
  LLVMContext context;
  return compileToImage(parse(text, context), target, entries);
}

std::string getError(StringRef text, ArrayRef<std::string> entries) {
  Expected<Bytes> image = compile(text, Target(Level::V3), entries);
  if (image)
    return "no error";
  return toString(image.takeError());
}

/// An image in the process, through a file.
class Loaded {
public:
  explicit Loaded(const Bytes &image) {
    SmallString<64> path;
    int descriptor;
    if (sys::fs::createTemporaryFile("latewood-test", "so", descriptor, path))
      return;
    {
      raw_fd_ostream os(descriptor, /*shouldClose=*/true);
      os.write(image.data(), image.size());
    }
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      ADD_FAILURE() << dlerror();
    sys::fs::remove(path);
  }
  ~Loaded() {
    if (handle)
      dlclose(handle);
  }
  template <typename T>
  T *get(const char *name) {
    return reinterpret_cast<T *>(dlsym(handle, name));
  }

private:
  void *handle = nullptr;
};

TEST(Target, Resolves) {
  Target v3 = cantFail(Target::resolve("x86-64-v3")), v4 = cantFail(Target::resolve("x86-64-v4"));
  EXPECT_EQ(v3.getVectorBits(), 256u);
  EXPECT_EQ(v4.getVectorBits(), 512u);
  EXPECT_EQ(v4.getVectorRegisters(), 32u);
  EXPECT_EQ(v4.getLanes(64), 8u);
  EXPECT_TRUE(v3.hasFeature("avx2"));
  EXPECT_TRUE(v3.hasFeature("fma"));
  EXPECT_FALSE(v3.hasFeature("avx512f"));
  EXPECT_TRUE(v4.hasFeature("avx512f"));
  EXPECT_EQ(v3.str(), "x86-64-v3");

  for (const char *name : {"native", "znver4", "haswell", "x86-64-v4+avx512vnni@znver4"}) {
    Expected<Target> target = Target::resolve(name);
    ASSERT_TRUE(static_cast<bool>(target)) << name << ": " << toString(target.takeError());
    EXPECT_EQ(target->str().find("native"), std::string::npos);
    EXPECT_EQ(cantFail(Target::resolve(target->str())).str(), target->str());
  }
}

TEST(Target, RefusesUnknownNames) {
  auto refuses = [](const char *name, const char *why) {
    Expected<Target> target = Target::resolve(name);
    ASSERT_FALSE(static_cast<bool>(target)) << name;
    std::string message = toString(target.takeError());
    EXPECT_NE(message.find(why), std::string::npos) << message;
  };
  refuses("", "unknown target");
  refuses("z80", "unknown target 'z80'");
  refuses("nehalem", "lacks instructions of x86-64-v3");
  refuses("x86-64-v4+sse9", "unknown instruction set 'sse9'");
  refuses("x86-64-v3+avx512vnni", "needs x86-64-v4");
  refuses("x86-64-v3@z80", "unknown CPU 'z80'");
  refuses("native+gfni", "unknown target");
}

TEST(DeviceLibrary, HasWhatTheTableNames) {
  for (Level level : {Level::V3, Level::V4}) {
    for (const MathFunction &function : getMathFunctions())
      for (unsigned bits : {32u, 64u})
        for (unsigned lanes : getMathLanes(level, bits)) {
          std::string symbol = getMathSymbol(function, bits, lanes);
          EXPECT_TRUE(hasLibraryFunction(level, symbol)) << symbol;
        }
    for (const char *type : {"f32", "f64", "i32", "i64"}) {
      const TileShape &tile = getTileShape(level, type);
      EXPECT_EQ(tile.columns, 2 * tile.lanes) << type;
      EXPECT_EQ(tile.kernels.front(), tile.rows) << type;
      EXPECT_EQ(tile.kernels.back(), 1) << type;
      for (int64_t rows : tile.kernels) {
        std::string name = "lw_mk" + (rows == tile.rows ? "" : std::to_string(rows)) + "_" + type;
        EXPECT_TRUE(hasLibraryFunction(level, name)) << name;
        EXPECT_TRUE(hasLibraryFunction(level, name + "_v1")) << name;
      }
    }
  }
  EXPECT_EQ(getTileShape(Level::V4, "f32").rows, 12);
  EXPECT_EQ(getTileShape(Level::V3, "f32").columns, 16);
  EXPECT_EQ(getTileShape(Level::V3, "f8").rows, 0);
  EXPECT_TRUE(isArchiveSymbol(Level::V3, "memcpy"));
  EXPECT_FALSE(isArchiveSymbol(Level::V3, "expf"));
  EXPECT_TRUE(hasLibraryFunction(Level::V4, "lw_packB_bf16_f32"));
  EXPECT_FALSE(hasLibraryFunction(Level::V4, "memcpy"));
}

constexpr const char *kAdd = R"(
  define i32 @add(ptr %a, ptr %b, ptr %c) {
    %x = load <4 x float>, ptr %a, align 4
    %y = load <4 x float>, ptr %b, align 4
    %z = fadd <4 x float> %x, %y
    store <4 x float> %z, ptr %c, align 4
    ret i32 0
  })";

TEST(Codegen, CompilesAndRuns) {
  for (const Target &target : {Target(Level::V3), getNative()}) {
    Expected<Bytes> image = compile(kAdd, target, {"add"});
    ASSERT_TRUE(static_cast<bool>(image)) << toString(image.takeError());
    EXPECT_LT(image->size(), 8192u);
    Loaded loaded(*image);
    float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, c[4] = {};
    ASSERT_EQ(loaded.get<int(float *, float *, float *)>("add")(a, b, c), 0);
    EXPECT_EQ(c[3], 44);
  }
}

TEST(Codegen, SameBytesTwice) {
  EXPECT_EQ(cantFail(compile(kAdd, getNative(), {"add"})), cantFail(compile(kAdd, getNative(), {"add"})));
}

TEST(Codegen, InlinesTheLibrary) {
  const char *text = R"(
    declare <8 x float> @lw_exp_f32x8(<8 x float>)
    declare float @lw_tanh_f32(float)
    define i32 @run(ptr %p) {
      %x = load <8 x float>, ptr %p, align 4
      %y = call <8 x float> @lw_exp_f32x8(<8 x float> %x)
      store <8 x float> %y, ptr %p, align 4
      %q = getelementptr float, ptr %p, i64 8
      %a = load float, ptr %q
      %b = call float @lw_tanh_f32(float %a)
      store float %b, ptr %q
      ret i32 0
    })";
  for (const Target &target : {Target(Level::V3), getNative()}) {
    Expected<Bytes> image = compile(text, target, {"run"});
    ASSERT_TRUE(static_cast<bool>(image)) << toString(image.takeError());
    Loaded loaded(*image);
    float p[9] = {0, 1, -1, 2, 3, 4, 5, 6, 0.5f};
    loaded.get<int(float *)>("run")(p);
    EXPECT_EQ(p[0], 1);
    EXPECT_NEAR(p[5], std::exp(4.f), 1e-5);
    EXPECT_NEAR(p[8], std::tanh(0.5f), 1e-7);
  }
}

// One of each thing that instruction selection turns into a call.
TEST(Codegen, FindsTheRuntimeArchive) {
  const char *text = R"(
    define i64 @run(ptr %p, i64 %n) {
      %q = getelementptr i8, ptr %p, i64 %n
      call void @llvm.memset.p0.i64(ptr %p, i8 7, i64 %n, i1 false)
      call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %n, i1 false)
      %p1 = getelementptr i8, ptr %p, i64 1
      call void @llvm.memmove.p0.p0.i64(ptr %p1, ptr %p, i64 %n, i1 false)
      %x = load i8, ptr %q
      %bad0 = icmp ne i8 %x, 7
      %w = sext i64 %n to i128
      %w2 = shl i128 %w, 70
      %w3 = sub i128 0, %w2
      %w4 = or i128 %w, 18446744073709551616
      %d = sdiv i128 %w3, %w4
      %r = srem i128 %w3, %w4
      %m = mul i128 %d, %w4
      %s = add i128 %m, %r
      %bad1 = icmp ne i128 %s, %w3
      %f = uitofp i64 %n to float
      %fm = frem float %f, 7.0
      %fe = fcmp une float %fm, 6.0
      %b = fptrunc float %f to bfloat
      store bfloat %b, ptr %p
      %bb = load i16, ptr %p
      %bad2 = icmp ne i16 %bb, 17530
      %v = insertelement <8 x float> undef, float %f, i64 3
      %vb = fptrunc <8 x float> %v to <8 x bfloat>
      %vi = bitcast <8 x bfloat> %vb to <8 x i16>
      %vx = extractelement <8 x i16> %vi, i64 3
      %bad3 = icmp ne i16 %vx, 17530
      %g = uitofp i64 %n to double
      %h = fptrunc double %g to half
      store half %h, ptr %p
      %hb = load i16, ptr %p
      %bad4 = icmp ne i16 %hb, 25552
      %o1 = or i1 %bad0, %bad1
      %o2 = or i1 %o1, %fe
      %o3 = or i1 %o2, %bad2
      %o4 = or i1 %o3, %bad3
      %o5 = or i1 %o4, %bad4
      %z = zext i1 %o5 to i64
      ret i64 %z
    })";
  Expected<Bytes> image = compile(text, Target(Level::V3), {"run"});
  ASSERT_TRUE(static_cast<bool>(image)) << toString(image.takeError());
  Loaded loaded(*image);
  std::vector<char> memory(4096);
  EXPECT_EQ(loaded.get<long(char *, long)>("run")(memory.data(), 1000), 0);
}

TEST(Codegen, RefusesWhatNoImageCanProvide) {
  EXPECT_NE(getError(R"(
    declare float @llvm.exp.f32(float)
    define float @run(float %x) {
      %y = call float @llvm.exp.f32(float %x)
      ret float %y
    })",
                     {"run"})
                .find("'expf', which no image can provide"),
            std::string::npos);
  EXPECT_NE(getError(R"(
    declare void @puts(ptr)
    define void @run(ptr %x) {
      call void @puts(ptr %x)
      ret void
    })",
                     {"run"})
                .find("'puts'"),
            std::string::npos);
  EXPECT_NE(getError(R"(
    declare void @lw_no_such_function()
    define void @run() {
      call void @lw_no_such_function()
      ret void
    })",
                     {"run"})
                .find("'lw_no_such_function'"),
            std::string::npos);
  EXPECT_NE(getError(kAdd, {"subtract"}).find("does not define the entry 'subtract'"), std::string::npos);
  EXPECT_NE(getError(R"(
    @counter = internal global i64 0
    define i64 @run() {
      %a = load i64, ptr @counter
      %b = add i64 %a, 1
      store i64 %b, ptr @counter
      ret i64 %b
    })",
                     {"run"})
                .find("written at run time"),
            std::string::npos);
  EXPECT_NE(getError(R"(
    @counter = internal thread_local global i64 0
    define i64 @run() {
      %a = load i64, ptr @counter
      %b = add i64 %a, 1
      store i64 %b, ptr @counter
      ret i64 %b
    })",
                     {"run"})
                .find("'__tls_get_addr'"),
            std::string::npos);
  // And nothing of it does harm to the next one.
  EXPECT_EQ(getError(kAdd, {"add"}), "no error");
}

TEST(Link, RecoversFromAFailure) {
  LLVMContext context;
  std::vector<Bytes> objects = cantFail(compileToObjects(parse(kAdd, context), Target(Level::V3), {"add"}));
  std::vector<Bytes> twice = {objects[0], objects[0]};
  for (int i = 0; i < 3; ++i) {
    Expected<Bytes> bad = linkImage(twice, Target(Level::V3), {"add"});
    ASSERT_FALSE(static_cast<bool>(bad));
    std::string message = toString(bad.takeError());
    EXPECT_NE(message.find("duplicate symbol: add"), std::string::npos) << message;
    Expected<Bytes> good = linkImage(objects, Target(Level::V3), {"add"});
    ASSERT_TRUE(static_cast<bool>(good)) << toString(good.takeError());
  }
  std::vector<Bytes> garbage = {Bytes(100, 'x')};
  Expected<Bytes> bad = linkImage(garbage, Target(Level::V3), {"add"});
  ASSERT_FALSE(static_cast<bool>(bad));
  consumeError(bad.takeError());
}

TEST(Link, VerifiesImages) {
  Bytes image = cantFail(compile(kAdd, Target(Level::V3), {"add"}));
  auto check = [](StringRef bytes, ArrayRef<std::string> entries) {
    Error error = verifyImage(bytes, entries);
    return error ? toString(std::move(error)) : "";
  };
  StringRef bytes(image.data(), image.size());
  EXPECT_EQ(check(bytes, {"add"}), "");
  EXPECT_NE(check(bytes, {"other"}).find("entry 'other' is not exported"), std::string::npos);
  EXPECT_NE(check(bytes, {}).find("exports 'add', which is no entry"), std::string::npos);
  EXPECT_NE(check("not an image", {}), "");
}

// A module over the size of one part: functions that call each other and share constants across parts.
// A function of hundreds of arguments takes them from memory, also where one of them goes through a phi.
TEST(Codegen, PassesManyArgumentsInMemory) {
  constexpr int kCount = 300;
  std::string parameters, operands, loads, sum;
  for (int i = 0; i < kCount; ++i) {
    std::string number = std::to_string(i), separator = i ? ", " : "";
    bool isAddress = i % 2;
    parameters += separator + (isAddress ? "ptr" : "i64") + " %a" + number;
    operands += separator + (isAddress ? "ptr" : "i64") + " %v" + number;
    loads += "  %p" + number + " = getelementptr i64, ptr %in, i64 " + number + "\n";
    loads += isAddress ? "  %v" + number + " = bitcast ptr %p" + number + " to ptr\n"
                       : "  %v" + number + " = load i64, ptr %p" + number + "\n";
    std::string term = isAddress ? "%l" + number : "%a" + number;
    if (isAddress)
      sum += "  %l" + number + " = load i64, ptr %a" + number + "\n";
    sum += "  %s" + number + " = add i64 " + (i ? "%s" + std::to_string(i - 1) : "%first") + ", " + term + "\n";
  }
  std::string text = "define internal i64 @many(" + parameters + ", i1 %c) {\n" +
                     "  br i1 %c, label %yes, label %no\nyes:\n  br label %no\n" +
                     "no:\n  %first = phi i64 [ %a0, %yes ], [ %a2, %0 ]\n" + sum + "  ret i64 %s" +
                     std::to_string(kCount - 1) + "\n}\n" + "define i64 @entry(ptr %in, i1 %c) {\n" + loads +
                     "  %r = call i64 @many(" + operands + ", i1 %c)\n  ret i64 %r\n}\n";
  Expected<Bytes> image = compile(text, getNative(), {"entry"});
  ASSERT_TRUE(bool(image)) << toString(image.takeError());
  Loaded loaded(*image);
  auto *entry = loaded.get<int64_t(const int64_t *, bool)>("entry");
  ASSERT_TRUE(entry);
  std::vector<int64_t> values(kCount);
  int64_t expected = 0;
  for (int i = 0; i < kCount; ++i)
    expected += values[i] = i * i + 7;
  EXPECT_EQ(entry(values.data(), true), expected + values[0]);
  EXPECT_EQ(entry(values.data(), false), expected + values[2]);
}

TEST(Codegen, SplitsLargeModules) {
  std::string text = R"(
    @table = private constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0]
    declare float @lw_exp_f32(float)
    define i32 @run(ptr %p) {
)";
  raw_string_ostream os(text);
  constexpr int kFunctions = 300;
  for (int i = 0; i < kFunctions; ++i)
    os << "      call void @f" << i << "(ptr %p)\n";
  os << "      ret i32 0\n    }\n";
  for (int i = 0; i < kFunctions; ++i)
    os << "    define internal void @f" << i << R"((ptr %p) noinline {
      %q = getelementptr float, ptr @table, i64 )"
       << i % 4 << R"(
      %x = load float, ptr %q
      %e = call float @lw_exp_f32(float %x)
      %y = load float, ptr %p
      %z = fadd float %y, %e
      store float %z, ptr %p
      ret void
    }
)";
  Target target(Level::V3);
  LLVMContext context;
  std::vector<Bytes> objects = cantFail(compileToObjects(parse(text, context), target, {"run"}));
  EXPECT_GT(objects.size(), 1u);
  Expected<Bytes> image = compile(text, target, {"run"});
  ASSERT_TRUE(static_cast<bool>(image)) << toString(image.takeError());
  EXPECT_EQ(*image, cantFail(compile(text, target, {"run"})));
  Loaded loaded(*image);
  float sum = 0;
  loaded.get<int(float *)>("run")(&sum);
  EXPECT_NEAR(sum, kFunctions / 4 * (std::exp(1.) + std::exp(2.) + std::exp(3.) + std::exp(4.)), 0.1);
}

} // namespace
