// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of while is checked: cond returns a boolean.
func.func @f(%i: tensor<i32>) {
  // expected-error @below {{(C1) requires cond of type ('tensor<i32>') -> ('tensor<i1>'), but got ('tensor<i32>') -> ('tensor<i32>')}}
  %0 = stablehlo.while(%a = %i) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %a, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %a : tensor<i32>
  } do {
    stablehlo.return %a : tensor<i32>
  }
  return
}

// -----

// Tests that (C2) of while is checked: body returns the carried values.
func.func @f(%i: tensor<i32>) {
  // expected-error @below {{(C2) requires body of type ('tensor<i32>') -> ('tensor<i32>')}}
  %0 = stablehlo.while(%a = %i) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %a, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %a, %a : tensor<i32>, tensor<i32>
  }
  return
}

// -----

// Tests that (C3) of while is checked: the results have the operands' types.
func.func @f(%i: tensor<i32>) {
  // expected-error @below {{requires result type 'tensor<i32>' by its operands, but got 'tensor<i64>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i64>
  return
}

// -----

// Tests that (C1) of case is checked: a branch.
func.func @f(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C1) requires at least one branch}}
  %0 = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// Tests that (C2) of case is checked: no arguments.
func.func @f(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C2) requires branches without arguments, but branch 1 has 1}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// Tests that (C3) of case is checked: branches that return the same types.
func.func @f(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C3) requires branches that return the same types, but branch 1 differs from the first}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f64>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// Tests that (C4) of case is checked: the results' types.
func.func @f(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C4) requires branches that return the op's result types, but branch 0 does not}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i32>) -> tensor<f64>
  return
}

// -----

// Tests that (C1) of if is checked: no arguments.
func.func @f(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C1) requires branches without arguments, but branch 0 has 1}}
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

// Tests that (C2) of if is checked: branches that return the same types.
func.func @f(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C2) requires branches that return the same types}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f64>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

// Tests that (C3) of if is checked: the results' types.
func.func @f(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) {
  // expected-error @below {{(C3) requires branches that return the op's result types}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

// Tests that (C1) of optimization_barrier is checked: the results' types.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{requires result type 'tensor<f32>' by its operands}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<f32>) -> tensor<f64>
  return
}

// -----

// Tests that (C1) of composite is checked: a namespace.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{(C1) requires a name with a namespace, such as "my.op", but got "op"}}
  %0 = stablehlo.composite "op" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Tests that (C2) of composite is checked: a decomposition.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{(C2) requires a decomposition that is a function of the module, but got @g}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @g} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Tests that (C3) of composite is checked: the operands' types.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{(C3) requires operands of the types that @f takes}}
  %0 = stablehlo.composite "my.op" %x, %x {decomposition = @f} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

// Tests that (C4) of composite is checked: the results' types.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{(C4) requires results of the types that @f returns}}
  %0 = stablehlo.composite "my.op" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Tests that layouts of custom calls come together.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires layouts of operands and results together, or neither}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that layouts of custom calls are one a value.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires one layout for each of the 1 operands, but got 0}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that layouts of custom calls are permutations.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires a layout of operand 0 that is a permutation of its 2 dimensions}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [dense<[0, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that aliases of custom calls name an operand that exists.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires an alias between an operand and a result that exist}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that aliases of custom calls keep the type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires an alias between values of one type}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that the configuration of a typed custom call is a dictionary.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires a dictionary as backend_config in api_version 4}}
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = "text"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that the configuration of an untyped custom call is a string.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires a string as backend_config in an api_version other than 4}}
  %0 = stablehlo.custom_call @foo(%x) {backend_config = {a = 1 : i32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that called computations of custom calls exist.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires called computations that are functions of the module, but got @g}}
  %0 = stablehlo.custom_call @foo(%x) {called_computations = [@g]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
