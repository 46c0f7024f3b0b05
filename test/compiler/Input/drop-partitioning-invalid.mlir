// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-drop-partitioning)' --split-input-file --verify-diagnostics

// Tests that a program for several devices is refused.
// expected-error @below {{the program is for 4 devices (attribute 'mhlo.num_partitions'); only programs for one device can be compiled}}
module attributes {mhlo.num_partitions = 4 : i32} {
}

// -----

// Tests that an annotation that takes a part of a value is refused.
func.func @part(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call' changes the type from 'tensor<8xf32>' to 'tensor<4xf32>', which one device cannot mean}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
