// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Control flow, calls, barriers and tokens, in pretty and generic form and through bytecode.

// Tests that a loop names its carried values alike in both regions.
// CHECK-LABEL: func.func @while(
// CHECK-SAME: %[[I:.*]]: tensor<i32>, %[[N:.*]]: tensor<i32>)
func.func @while(%i: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  // CHECK: %[[R:.*]]:2 = stablehlo.while(%[[A:.*]] = %[[I]], %[[B:.*]] = %[[N]]) : tensor<i32>, tensor<i32> attributes {mhlo.note = "kept"}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: %[[P:.*]] = stablehlo.compare LT, %[[A]], %[[B]], SIGNED
  // CHECK-NEXT: stablehlo.return %[[P]] : tensor<i1>
  // CHECK-NEXT: } do {
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[A]], %[[A]] : tensor<i32>
  // CHECK-NEXT: stablehlo.return %[[S]], %[[B]] : tensor<i32>, tensor<i32>
  // CHECK-NEXT: }
  %0:2 = stablehlo.while(%a = %i, %b = %n) : tensor<i32>, tensor<i32> attributes {mhlo.note = "kept"}
  cond {
    %p = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.add %a, %a : tensor<i32>
    stablehlo.return %s, %b : tensor<i32>, tensor<i32>
  }
  return %0#0 : tensor<i32>
}

// Tests that branches keep their regions.
// CHECK-LABEL: func.func @branches(
func.func @branches(%i: tensor<i32>, %p: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK: "stablehlo.case"(%{{.*}}) ({
  // CHECK-NEXT: stablehlo.return %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT: stablehlo.negate
  // CHECK: }) : (tensor<i32>) -> tensor<4xf32>
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  // CHECK: "stablehlo.if"(%{{.*}}) ({
  // CHECK: }) : (tensor<i1>) -> ()
  "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}

// Tests that custom calls keep their attributes, our own and foreign ones.
// CHECK-LABEL: func.func @calls(
func.func @calls(%x: tensor<2x3xf32>) {
  // CHECK: stablehlo.custom_call @foo(%{{.*}}) {api_version = 4 : i32, backend_config = {mode = 83 : ui8}, mhlo.note = 1 : i64, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = {mode = 83 : ui8}, mhlo.note = 1 : i64, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.custom_call @"a b"() {has_side_effect = true} : () -> ()
  stablehlo.custom_call @"a b"() {has_side_effect = true} : () -> ()
  // CHECK: stablehlo.composite "my.op" %{{.*}} {composite_attributes = {k = 3 : i64}, decomposition = @impl, version = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.composite "my.op" %x {composite_attributes = {k = 3 : i64}, decomposition = @impl, version = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func private @impl(tensor<2x3xf32>) -> tensor<2x3xf32>

// Tests that barriers and tokens keep their form.
// CHECK-LABEL: func.func @order(
func.func @order(%x: tensor<2xf32>, %y: tensor<i32>) {
  // CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<i32>
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<2xf32>, tensor<i32>
  // CHECK: stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %2 = stablehlo.after_all %1, %1 : !stablehlo.token
  return
}
