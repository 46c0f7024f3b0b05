/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Imports a function: the loader refuses it. */
extern __attribute__((visibility("default"))) int somethingElse(void);
__attribute__((visibility("default"))) int f_call(void) { return somethingElse() + 1; }
