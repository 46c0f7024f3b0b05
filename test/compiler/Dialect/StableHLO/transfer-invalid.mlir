// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C2) of infeed is checked: tensors before the token.
func.func @f(%t: !stablehlo.token) {
  // expected-error @below {{(C2) requires tensors before the token}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

// Tests that (C3) of infeed is checked: a token.
func.func @f(%t: !stablehlo.token) {
  // expected-error @below {{(C3) requires a token as the last result}}
  %0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of send is checked: pairs.
func.func @f(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error @below {{(C1) requires source_target_pairs of shape [N, 2]}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<0> : tensor<1x3xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C2) of send is checked: different sources.
func.func @f(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error @below {{(C2) requires sources that are all different}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C3) of send is checked: different targets.
func.func @f(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error @below {{(C3) requires targets that are all different}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C4) of send is checked: no negative number.
func.func @f(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error @below {{(C4) requires numbers that are not negative}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C5) of send is checked: the channel's type.
func.func @f(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // expected-error @below {{(C5) requires a channel of type 2, but got 1}}
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C5) of recv is checked: the channel's type.
func.func @f(%t: !stablehlo.token) {
  // expected-error @below {{(C5) requires a channel of type 3, but got 2}}
  %0 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> !stablehlo.token
  return
}

// -----

// Tests that (C1) of tuple is checked: the elements' types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tuple<tensor<4xf32>>' by its operands}}
  %0 = stablehlo.tuple %x : (tensor<4xf32>) -> tuple<tensor<5xf32>>
  return
}

// -----

// Tests that (C1) of get_tuple_element is checked: an index in bounds.
func.func @f(%x: tuple<tensor<4xf32>>) {
  // expected-error @below {{(C1) requires an index in bounds, but got 1}}
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of get_tuple_element is checked: the element's type.
func.func @f(%x: tuple<tensor<4xf32>>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<4xf32>>) -> tensor<i32>
  return
}

// -----

// Tests that (C3) of collective_broadcast is checked: an operand.
func.func @f() {
  // expected-error @below {{(C3) requires at least one operand}}
  "stablehlo.collective_broadcast"() <{replica_groups = dense<0> : tensor<1x1xi64>}> : () -> ()
  return
}

// -----

// Tests that (C4) of collective_broadcast is checked: the roots' type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires roots of type 'tensor<1xi32>', but got 'tensor<4xf32>'}}
  %0 = "stablehlo.collective_broadcast"(%x, %x) <{has_dynamic_root, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that an extent that no tensor has is no crash.
func.func @f(%x: tensor<9223372036854775807xi8>, %c: tensor<i8>) {
  // expected-error @below {{requires result type 'tensor<9223372036854775807xi8>' by its operands}}
  %0 = stablehlo.pad %x, %c, low = [9223372036854775807], high = [0], interior = [9223372036854775807] : (tensor<9223372036854775807xi8>, tensor<i8>) -> tensor<0xi8>
  return
}
