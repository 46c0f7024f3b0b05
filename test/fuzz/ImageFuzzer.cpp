// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The image loader: any bytes load or are refused, and nothing outside them is touched. What loads is not run.
// A corpus starts with any image: `latewood-compile` with --emit=image, or build/…/test/unit/functions.img.

#include "latewood/runtime/ImageLoader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto image = latewood::runtime::Image::load({data, size});
  if (image.isOk())
    (void)(*image)->find("main");
  return 0;
}
