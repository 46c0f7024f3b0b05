// Tests that the pipeline in whole phases, and the one with all passes, are the same, and that stopping after a phase and going on behind
// it gives what one run gives.

// RUN: latewood-compile --print-pipeline=phases --target=x86-64-v3 | FileCheck %s --check-prefix=PHASES
// PHASES: builtin.module(latewood-import{engines=cpu host=native target=x86-64-v3{{[^}]*}}},latewood-input,latewood-cluster{engines=cpu},latewood-engines{engines=cpu},latewood-bufferize,latewood-lower)

// RUN: latewood-compile --print-pipeline --target=x86-64-v3 | FileCheck %s --check-prefix=PASSES
// PASSES: builtin.module(
// PASSES: latewood-record-options{
// PASSES: latewood-finish-phase{name=import}
// PASSES: latewood-form-clusters{engines={cpu}}
// PASSES: latewood-finish-phase{name=lower}

// RUN: latewood-compile %s --target=x86-64-v3 --until=cluster -o %t.cluster.mlir
// RUN: FileCheck %s --check-prefix=CLUSTER < %t.cluster.mlir
// CLUSTER: latewood.phase = "cluster"
// CLUSTER: plan.call @cpu::@main_cluster_0

// RUN: latewood-compile %s --target=x86-64-v3 -o %t.whole.lwx
// RUN: latewood-compile %t.cluster.mlir --target=x86-64-v3 --since=cluster -o %t.resumed.lwx
// RUN: cmp %t.whole.lwx %t.resumed.lwx

// RUN: not latewood-compile %s --since=cluster -o %t.none 2>&1 | FileCheck %s --check-prefix=STAMP
// STAMP: the module cannot continue after phase 'cluster': it has finished no phase
// RUN: not latewood-compile %s --until=clutser -o %t.none 2>&1 | FileCheck %s --check-prefix=CLOSE
// CLOSE: the pipeline has no phase 'clutser'; did you mean cluster?
// RUN: not latewood-compile %s --tarrget=native -o %t.none 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: unknown option '--tarrget'; did you mean --target?

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
