// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that is whole or not there. Linux has files without names (O_TMPFILE), which get one when they are complete;
// where the file system has none, the file has a name of its own meanwhile, which a signal leaves behind.

#include "latewood/runtime/OutputFile.h"

#include "latewood/runtime/FaultInjection.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace latewood::runtime {

OutputFile::OutputFile(const std::string &path, const std::string &what) : path(path), what(what), target(path) {}

OutputFile::~OutputFile() { close(); }

Status OutputFile::failure(int error) const {
  return unavailable("cannot write " + (what.empty() ? "" : what + " ") + "'" + path + "': " + std::strerror(error));
}

void OutputFile::close() {
  if (file)
    std::fclose(file);
  file = nullptr;
  if (!temporary.empty())
    unlink(temporary.c_str());
  temporary.clear();
}

StatusOr<std::unique_ptr<OutputFile>> OutputFile::create(const std::string &path, const std::string &what) {
  std::unique_ptr<OutputFile> result(new OutputFile(path, what));
  LATEWOOD_RETURN_IF_ERROR(result->open());
  return result;
}

std::string OutputFile::folder() const {
  size_t slash = target.rfind('/');
  return slash == std::string::npos ? "./" : target.substr(0, slash + 1);
}

std::string OutputFile::temporaryName() const {
  static std::atomic<uint64_t> next{0};
  return folder() + ".latewood-" + std::to_string(getpid()) + "-" + std::to_string(next.fetch_add(1));
}

Status OutputFile::open() {
  if (faults::strike())
    return failure(EMFILE);
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    isInPlace = !S_ISREG(status.st_mode);
    // Renaming would put a file in the place of a link.
    std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr), &std::free);
    if (resolved)
      target = resolved.get();
  }
  int descriptor = -1;
  if (isInPlace) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  } else {
    if (access("/proc/self/fd", X_OK) == 0)
      descriptor = ::open(folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      temporary = temporaryName();
      descriptor = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    }
  }
  if (descriptor < 0) {
    int error = errno;
    // It is another's, or not there.
    temporary.clear();
    return failure(error);
  }
  file = fdopen(descriptor, "w");
  if (!file) {
    int error = errno;
    ::close(descriptor);
    return failure(error);
  }
  return okStatus();
}

int OutputFile::finish() {
  // What failed before has failed for this reason, as far as anybody knows.
  errno = EIO;
  if (std::fflush(file) != 0 || std::ferror(file))
    return errno;
  if (!isInPlace && temporary.empty()) {
    std::string nameless = "/proc/self/fd/" + std::to_string(fileno(file)), name = temporaryName();
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return errno;
    // Nothing may fail between the two.
    temporary.swap(name);
  }
  // Some file systems find out when the file is closed.
  if (std::fclose(std::exchange(file, nullptr)) != 0)
    return errno;
  if (!isInPlace && rename(temporary.c_str(), target.c_str()) != 0)
    return errno;
  temporary.clear();
  return 0;
}

Status OutputFile::commit() {
  int error = faults::strike() ? ENOSPC : finish();
  close();
  return error == 0 ? okStatus() : failure(error);
}

} // namespace latewood::runtime
