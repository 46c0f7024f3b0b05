// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readers of .npy and .npz files, and the choice of an element type for what they give.

#include "latewood/tools/Npy.h"

using namespace latewood;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static runtime::Ref<runtime::Client> client = *runtime::Client::create({1});
  if (auto array = tools::parseNpy(*client, {data, size}); array.isOk())
    for (uint8_t type = 0; type < 32; ++type)
      (void)tools::resolve(*array, static_cast<runtime::ElementType>(type));
  (void)tools::parseNpz(*client, {data, size});
  return 0;
}
