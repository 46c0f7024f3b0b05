// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that is whole or not there. What is written has no name until it is complete, and then takes the place of
// what was there at once; a failure, a signal or the end of the process before that leaves everything as it was. What
// is no file (a device, a pipe) is written where it is, and links stay links. One thread at a time.

#ifndef LATEWOOD_RUNTIME_OUTPUTFILE_H
#define LATEWOOD_RUNTIME_OUTPUTFILE_H

#include "latewood/runtime/Export.h"
#include "latewood/runtime/Status.h"

#include <cstdio>
#include <memory>
#include <string>

namespace latewood::runtime {

class LATEWOOD_API OutputFile {
public:
  /// Fails where no file can be made: `what` is being written, for the message ("cannot write the trace '…'").
  static StatusOr<std::unique_ptr<OutputFile>> create(const std::string &path, const std::string &what = "");
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  /// What to write to. Errors need not be looked at: `commit` does.
  std::FILE *stream() { return file; }

  /// Ends the writing. Fails, and leaves no file, if anything could not be written.
  Status commit();

private:
  OutputFile(const std::string &path, const std::string &what);
  Status open();
  /// The error of the system that kept the file from being complete, or 0.
  int finish();
  std::string folder() const;
  std::string temporaryName() const;
  Status failure(int error) const;
  void close();

  std::string path, what;
  /// Where the file goes in the end, and the name that it has before; none where it is written in place, or has no
  /// name.
  std::string target, temporary;
  std::FILE *file = nullptr;
  bool isInPlace = false;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_OUTPUTFILE_H
