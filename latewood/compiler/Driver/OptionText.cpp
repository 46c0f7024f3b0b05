// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Percent-encoding of strings in pass options.

#include "latewood/compiler/Driver/OptionText.h"
#include "llvm/ADT/StringExtras.h"

std::string latewood::driver::encodeOptionText(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (llvm::isAlnum(c) || llvm::StringRef("_+./:=@-").contains(c)) {
      result += c;
    } else {
      result += '%';
      result += llvm::hexdigit(static_cast<unsigned char>(c) >> 4);
      result += llvm::hexdigit(c & 15);
    }
  }
  return result;
}

std::string latewood::driver::decodeOptionText(llvm::StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && llvm::isHexDigit(text[i + 1]) && llvm::isHexDigit(text[i + 2])) {
      result += static_cast<char>(llvm::hexFromNibbles(text[i + 1], text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}
