// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the elementary functions are measured. A *form* of a function is one exported symbol (level, type, lanes), called
// here through a loop over an array. References are one precision up: libm in double for f32, in long double for f64.
#ifndef LATEWOOD_TEST_UNIT_LIBRARY_MATHACCURACY_H
#define LATEWOOD_TEST_UNIT_LIBRARY_MATHACCURACY_H

#include <cstddef>
#include <vector>

namespace latewood::test {

template <typename T>
struct Form {
  const char *level;
  const char *name;
  int lanes;
  /// Applies the function to `count` elements, a multiple of 16. `y` is null for functions of one operand.
  void (*apply)(const T *x, const T *y, T *result, size_t count);
};

/// All forms of a level; the machine must have the level.
std::vector<Form<float>> getFormsF32V3();
std::vector<Form<double>> getFormsF64V3();
std::vector<Form<float>> getFormsF32V4();
std::vector<Form<double>> getFormsF64V4();

} // namespace latewood::test

#endif // LATEWOOD_TEST_UNIT_LIBRARY_MATHACCURACY_H
