// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to the embedded library. Facts are read from the bytes once per process and level, on first use.

#include "latewood/compiler/Target/DeviceLibrary.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

// Defined by DeviceLibraryBytes.cpp.in; each block is followed by a zero byte.
extern "C" __attribute__((visibility("hidden"))) const char latewoodLibraryV3[], latewoodLibraryV3End[],
    latewoodLibraryV4[], latewoodLibraryV4End[], latewoodArchiveV3[], latewoodArchiveV3End[], latewoodArchiveV4[],
    latewoodArchiveV4End[];

namespace latewood::target {

StringRef getLibraryBitcode(Level level) {
  if (level == Level::V4)
    return StringRef(latewoodLibraryV4, latewoodLibraryV4End - latewoodLibraryV4);
  return StringRef(latewoodLibraryV3, latewoodLibraryV3End - latewoodLibraryV3);
}

StringRef getLibraryArchive(Level level) {
  if (level == Level::V4)
    return StringRef(latewoodArchiveV4, latewoodArchiveV4End - latewoodArchiveV4);
  return StringRef(latewoodArchiveV3, latewoodArchiveV3End - latewoodArchiveV3);
}

namespace {
struct Facts {
  StringSet<> inlined, archived;
  StringMap<TileShape> tiles;
};
} // namespace

static SmallVector<int64_t> readIntegers(const Module &module, const Twine &name) {
  SmallVector<int64_t> values;
  const GlobalVariable *global = module.getGlobalVariable(name.str());
  if (!global || !global->hasInitializer())
    return values;
  if (auto *data = dyn_cast<ConstantDataArray>(global->getInitializer()))
    for (unsigned i = 0; i < data->getNumElements(); ++i)
      values.push_back(data->getElementAsInteger(i));
  return values;
}

static Facts readFacts(Level level) {
  Facts facts;
  LLVMContext context;
  auto module = cantFail(getLazyBitcodeModule(MemoryBufferRef(getLibraryBitcode(level), "library"), context));
  for (const Function &function : *module)
    if (!function.isDeclaration() && function.hasExternalLinkage())
      facts.inlined.insert(function.getName());
  auto archive = cantFail(object::Archive::create(MemoryBufferRef(getLibraryArchive(level), "library")));
  for (const object::Archive::Symbol &entry : archive->symbols())
    facts.archived.insert(entry.getName());
  for (const char *type : {"f32", "f64", "i32", "i64", "i16x2"}) {
    SmallVector<int64_t> params = readIntegers(*module, Twine("lw_mk_") + type + "_params");
    TileShape tile;
    if (params.size() == 3) {
      tile.rows = params[0];
      tile.columns = params[1];
      tile.lanes = params[2];
    }
    for (int64_t rows : readIntegers(*module, Twine("lw_mk_") + type + "_rows"))
      if (rows)
        tile.kernels.push_back(rows);
    facts.tiles[type] = tile;
  }
  return facts;
}

static const Facts &getFacts(Level level) {
  if (level == Level::V4) {
    static const Facts facts = readFacts(Level::V4);
    return facts;
  }
  static const Facts facts = readFacts(Level::V3);
  return facts;
}

bool isArchiveSymbol(Level level, StringRef name) { return getFacts(level).archived.contains(name); }

bool hasLibraryFunction(Level level, StringRef name) {
  return name.starts_with("lw_") && (getFacts(level).inlined.contains(name) || isArchiveSymbol(level, name));
}

const TileShape &getTileShape(Level level, StringRef elementType) {
  static const TileShape none;
  const Facts &facts = getFacts(level);
  auto it = facts.tiles.find(elementType);
  return it == facts.tiles.end() ? none : it->second;
}

} // namespace latewood::target
