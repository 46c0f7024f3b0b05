// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled for x86-64-v3.
#define LEVEL v3
#define FORMS_F32 getFormsF32V3
#define FORMS_F64 getFormsF64V3
#include "MathForms.cpp.inc"
