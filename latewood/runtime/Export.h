// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library hides every symbol but those marked LATEWOOD_API: what is not API cannot be relied on, and calls inside
// the library stay direct.

#ifndef LATEWOOD_RUNTIME_EXPORT_H
#define LATEWOOD_RUNTIME_EXPORT_H

#define LATEWOOD_API __attribute__((visibility("default")))

#endif // LATEWOOD_RUNTIME_EXPORT_H
