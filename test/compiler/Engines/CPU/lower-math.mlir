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

// Tests that vectors of small integers are divided as floats of twice their precision, except by constants and in 64 bits.
// CHECK-LABEL: func @divide
// CHECK-SAME: %[[X:.*]]: vector<8xi32>, %[[Y:.*]]: vector<8xi32>
// CHECK-DAG: %[[F:.*]] = arith.sitofp %[[X]] : vector<8xi32> to vector<8xf64>
// CHECK-DAG: %[[G:.*]] = arith.sitofp %[[Y]] : vector<8xi32> to vector<8xf64>
// CHECK: %[[Q:.*]] = arith.divf %[[F]], %[[G]]
// CHECK: %[[I:.*]] = arith.fptosi %[[Q]] : vector<8xf64> to vector<8xi32>
// CHECK: %[[P:.*]] = arith.muli %[[I]], %[[Y]]
// CHECK: arith.subi %[[X]], %[[P]]
// CHECK: arith.uitofp %{{.+}} : vector<8xi16> to vector<8xf32>
// CHECK: arith.fptoui %{{.+}} : vector<8xf32> to vector<8xi16>
// CHECK: arith.divsi %[[X]], %{{.+}} : vector<8xi32>
// CHECK: arith.divsi %{{.+}} : vector<8xi64>
func.func @divide(%x: vector<8xi32>, %y: vector<8xi32>, %s: vector<8xi16>, %l: vector<8xi64>)
    -> (vector<8xi32>, vector<8xi16>, vector<8xi32>, vector<8xi64>) {
  %r = arith.remsi %x, %y : vector<8xi32>
  %u = arith.divui %s, %s : vector<8xi16>
  %seven = arith.constant dense<7> : vector<8xi32>
  %c = arith.divsi %x, %seven : vector<8xi32>
  %w = arith.divsi %l, %l : vector<8xi64>
  return %r, %u, %c, %w : vector<8xi32>, vector<8xi16>, vector<8xi32>, vector<8xi64>
}
