// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are whole or not there.

#include "latewood/compiler/Driver/WriteFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace latewood::driver {

namespace fs = llvm::sys::fs;

namespace {

llvm::Error cannotWrite(llvm::StringRef what, std::error_code error) {
  return llvm::createStringError("cannot write " + what + ": " + error.message());
}

llvm::Error writeTo(llvm::raw_fd_ostream &os, llvm::StringRef what, llvm::StringRef data) {
  os << data;
  os.flush();
  std::error_code error = os.error();
  // A stream that is destroyed with an error ends the process.
  os.clear_error();
  return error ? cannotWrite(what, error) : llvm::Error::success();
}

} // namespace

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef data) {
  if (path == "-")
    return writeTo(llvm::outs(), "standard output", data);
  std::string quoted = ("'" + path + "'").str();
  fs::file_status status;
  llvm::SmallString<128> target(path);
  if (!fs::status(path, status)) {
    // Renaming would put a file in the place of a link.
    if (fs::is_symlink_file(path) && fs::real_path(path, target))
      target = path;
    if (status.type() != fs::file_type::regular_file) {
      std::error_code error;
      llvm::raw_fd_ostream os(path, error);
      return error ? cannotWrite(quoted, error) : writeTo(os, quoted, data);
    }
  }
  auto file = fs::TempFile::create(target + ".%%%%%%", fs::all_read | fs::owner_write);
  if (!file)
    return cannotWrite(quoted, llvm::errorToErrorCode(file.takeError()));
  llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  if (llvm::Error error = writeTo(os, quoted, data)) {
    llvm::consumeError(file->discard());
    return error;
  }
  if (std::error_code failed = llvm::errorToErrorCode(file->keep(target)))
    return cannotWrite(quoted, failed);
  return llvm::Error::success();
}

} // namespace latewood::driver
