// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as MLIR bytecode. What begins otherwise is text to the reader, which is StableHLOFuzzer's part.

#include "CompileUpToClusters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef program(reinterpret_cast<const char *>(data), size);
  if (!program.starts_with("ML\xefR"))
    return -1;
  compileUpToClusters(program);
  return 0;
}
