// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-expand-checks

// Tests that a check that does not exist is refused.
func.func @f(%a: tensor<2xi32>) {
  // expected-error @below {{unknown check 'check.expect_wonder'}}
  stablehlo.custom_call @check.expect_wonder(%a, %a) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}

// -----

// Tests that a check of values of two types is refused.
func.func @f(%a: tensor<2xi32>, %b: tensor<3xi32>) {
  // expected-error @below {{custom call 'check.expect_eq' needs two operands of one type and no result}}
  stablehlo.custom_call @check.expect_eq(%a, %b) {has_side_effect = true} : (tensor<2xi32>, tensor<3xi32>) -> ()
  return
}
