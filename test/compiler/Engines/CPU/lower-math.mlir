// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-lower-math)' | FileCheck %s

// Tests that an elementary function is a call of the library on a whole register.
// CHECK-LABEL: func @exp
// CHECK: call @lw_exp_f32x8(%{{.+}}) : (vector<8xf32>) -> vector<8xf32>
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// Tests that conversions from and to bf16 are integer operations on vectors.
// CHECK-LABEL: func @bf16
// CHECK-NOT: arith.extf
// CHECK: arith.shli %{{.+}}, %{{.+}} : vector<8xi32>
// CHECK: arith.addf
// CHECK: arith.shrui %{{.+}}, %{{.+}} : vector<8xi32>
// CHECK-NOT: arith.truncf
func.func @bf16(%x: vector<8xbf16>) -> vector<8xbf16> {
  %w = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %s = arith.addf %w, %w : vector<8xf32>
  %n = arith.truncf %s : vector<8xf32> to vector<8xbf16>
  return %n : vector<8xbf16>
}
