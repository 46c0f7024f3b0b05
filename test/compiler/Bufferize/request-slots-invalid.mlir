// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-request-slots))'

// Tests that an argument can only be donated to a result of its type.
// expected-error @below {{argument 0 has 'tf.aliasing_output = 0', which is no result of its type}}
func.func @other_type(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<5xf32>) -> tensor<5xf32> {
  return %b : tensor<5xf32>
}

// -----

// Tests that a result cannot have the memory of two arguments.
// expected-error @below {{argument 1 has 'tf.aliasing_output = 0'}}
func.func @twice(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %b : tensor<4xf32>
}

// -----

// Tests that a donor without a result is mentioned.
// expected-remark @below {{the memory of argument 0 is donated, but there is no result of its type}}
func.func @useless(%a: tensor<4xf32> {jax.buffer_donor = true}) {
  return
}
