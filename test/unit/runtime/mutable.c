/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Mutable data of its own, which sessions would share: the loader refuses it. */
__attribute__((visibility("default"))) int counter = 1;
__attribute__((visibility("default"))) int f_count(void) { return ++counter; }
