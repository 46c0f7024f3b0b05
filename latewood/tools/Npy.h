// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's files, .npy (one array) and .npz (a zip archive of them), read into and written from runtime values.
//
// Element types. A file names NumPy's own types; those that only ml_dtypes has (bf16, the f8 family, i4) are written by
// NumPy as raw bytes ("<V2", "|V1"), and people also store their bits as unsigned integers. So an array that is read
// keeps the file's type, and `resolve` decides when the expected type is known: it must be the same, or one of those
// that NumPy lacks, of the same size. Arrays in Fortran order are transposed while reading.
//
// In: any bytes. Every length in them is checked; a file that is not what it says gives an error that says where.

#ifndef LATEWOOD_TOOLS_NPY_H
#define LATEWOOD_TOOLS_NPY_H

#include "latewood/runtime/Client.h"

#include <span>
#include <string>
#include <vector>

namespace latewood::tools {

struct Array {
  /// Name in the archive, without ".npy"; of a .npy file: empty.
  std::string name;
  /// NumPy's type string, "<f4".
  std::string descr;
  /// NumPy's type where we have it, else unsigned integers of its size (then `isOpaque`).
  runtime::Ref<runtime::MemRefValue> value;
  bool isOpaque = false;
};

/// Parses the bytes of one .npy file.
runtime::StatusOr<Array> parseNpy(runtime::Client &client, std::span<const uint8_t> bytes);
/// Parses the bytes of a .npz file, in the archive's order.
runtime::StatusOr<std::vector<Array>> parseNpz(runtime::Client &client, std::span<const uint8_t> bytes);
/// Reads a file of either kind, told apart by its first bytes. A .npy file gives one array.
runtime::StatusOr<std::vector<Array>> readArrays(runtime::Client &client, const std::string &path);

/// The array as a value of element type `expected`, sharing its memory.
runtime::StatusOr<runtime::Ref<runtime::Value>> resolve(const Array &array, runtime::ElementType expected);

struct NamedValue {
  std::string name;
  runtime::Ref<runtime::Value> value;
};

/// Writes .npz, or .npy (one value) if the name ends so.
runtime::Status writeArrays(const std::string &path, std::span<const NamedValue> values);

} // namespace latewood::tools

#endif // LATEWOOD_TOOLS_NPY_H
