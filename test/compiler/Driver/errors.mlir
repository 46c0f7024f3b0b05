// Tests that wrong input gives a message with the place and exit status 1.

// RUN: split-file %s %t
// RUN: not latewood-compile %t/syntax.mlir -o %t/out.lwx 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: cannot read the program '{{.*}}syntax.mlir'
// SYNTAX: syntax.mlir:2:{{[0-9]+}}: error:
// SYNTAX: stablehlo.add %arg0 %arg0
// SYNTAX: ^
// RUN: not latewood-compile %t/unknown.mlir -o %t/out.lwx 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:2:{{[0-9]+}}: error: {{.*}}stablehlo.frobnicate
// RUN: not latewood-compile %t/verifier.mlir -o %t/out.lwx 2>&1 | FileCheck %s --check-prefix=VERIFIER
// VERIFIER: verifier.mlir:2:{{[0-9]+}}: error: {{.*}}stablehlo.transpose
// RUN: not latewood-compile %t/engine.mlir -o %t/out.lwx 2>&1 | FileCheck %s --check-prefix=ENGINE
// ENGINE: compilation failed in phase cluster
// ENGINE: engine.mlir:2:{{[0-9]+}}: error: no engine takes 'stablehlo.custom_call'
// ENGINE: in pass latewood-form-clusters
// ENGINE: note: engine cpu:
// RUN: not latewood-compile %t/missing.mlir -o %t/out.lwx 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: cannot read '{{.*}}missing.mlir': No such file or directory

//--- syntax.mlir
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0 %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- unknown.mlir
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.frobnicate %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- verifier.mlir
func.func @main(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
//--- engine.mlir
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mystery(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
