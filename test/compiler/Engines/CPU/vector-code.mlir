// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-compile %s --target=x86-64-v4 --emit=llvm -o - | FileCheck %s
// RUN: latewood-compile %s --target=x86-64-v3 --emit=llvm -o - | FileCheck %s --check-prefix=V3

// Tests that the inner loops of an elementwise chain and of a softmax are vector code on full registers, that neither keeps
// a scalar loop over elements, and that neither needs memory beyond its arguments and results (for the softmax: one row per
// thread).

module {
  // CHECK-LABEL: define void @chain_cluster_0_body_0(
  // CHECK: load <16 x float>
  // CHECK: fmul <16 x float>
  // CHECK: call <16 x float> @lw_tanh_f32x16
  // CHECK: store <16 x float>
  // CHECK-NOT: load float
  // CHECK: ret void
  // V3-LABEL: define void @chain_cluster_0_body_0(
  // V3: load <8 x float>
  // V3: call <8 x float> @lw_tanh_f32x8
  // V3: ret void
  func.func public @chain(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = stablehlo.multiply %x, %y : tensor<1024x1024xf32>
    %1 = stablehlo.tanh %0 : tensor<1024x1024xf32>
    %2 = stablehlo.add %1, %x : tensor<1024x1024xf32>
    return %2 : tensor<1024x1024xf32>
  }

  // CHECK-LABEL: define void @softmax_cluster_0_body_0(
  // CHECK: fcmp ugt <16 x float>
  // CHECK: call float @llvm.vector.reduce.fmaximum.v16f32
  // CHECK: call <16 x float> @lw_exp_f32x16
  // CHECK: fadd reassoc <16 x float>
  // CHECK: call reassoc float @llvm.vector.reduce.fadd.v16f32
  // CHECK: fdiv <16 x float>
  // CHECK-NOT: load float
  // CHECK: ret void
  func.func public @softmax(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
    %d = stablehlo.subtract %x, %mb : tensor<4096x1024xf32>
    %e = stablehlo.exponential %d : tensor<4096x1024xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
    %y = stablehlo.divide %e, %sb : tensor<4096x1024xf32>
    return %y : tensor<4096x1024xf32>
  }
}
