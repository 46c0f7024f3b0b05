// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-record-options{target=x86-64-v3 options=--engines%%3Dcpu},latewood-finish-phase{name=import})' | FileCheck %s

// Tests that options are decoded and recorded, the target resolved, and the module stamped.
// CHECK: module attributes {latewood.options = "--engines=cpu", latewood.phase = "import",
// CHECK-SAME: plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3{{.*}}", features = "{{.*}}avx2{{.*}}">}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
