// RUN: latewood-compile %s -o %t.lwx --target=x86-64-v3 --report=%t.html
// RUN: FileCheck %s --input-file=%t.html
// RUN: not latewood-compile %s -o %t.lwx --target=x86-64-v3 --report
// RUN: latewood-compile %s -o %t.lwx --report %t.both.html && FileCheck %s --input-file=%t.both.html --check-prefix=BOTH

// Tests that --report writes one page with the data of the compilation in it, of each target where there are several.

// CHECK: <!DOCTYPE html>
// CHECK-NOT: src=
// CHECK: const report = {"executable":{"bytes":
// CHECK-SAME: "images":[{"bytes":{{[0-9]+}},"cpu":"x86-64-v3"
// CHECK-SAME: "graphs":[{
// CHECK-SAME: "level":"host"
// CHECK-SAME: "callee":"main_cluster_0"
// CHECK-SAME: "level":"cluster"
// CHECK-SAME: "memory":[{
// CHECK-SAME: "pass":"latewood-record-options"
// CHECK-SAME: "pass":"latewood-plan-memory"
// CHECK-SAME: "phase":"translate"
// CHECK-SAME: "program":{
// CHECK-SAME: "target":"x86-64-v3"
// CHECK-SAME: "remarks":[{
// CHECK-SAME: "severity":"remark"

// BOTH: "level":"cluster"
// BOTH-SAME: "level":"cluster for x86-64-v4"
// BOTH-SAME: "function":"main_cluster_0"
// BOTH-SAME: "function":"main_cluster_0 for x86-64-v4"
func.func public @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = stablehlo.dot_general %p, %y, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %t, %x : tensor<64x64xf32>, tensor<64x64xf32>
}
