// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled for x86-64-v4.
#define LEVEL v4
#define FORMS_F32 getFormsF32V4
#define FORMS_F64 getFormsF64V4
#include "MathForms.cpp.inc"
