// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of reduce is checked: inputs of one shape.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C1) requires inputs of one shape}}
  %0:2 = stablehlo.reduce(%x init: %c), (%y init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<f32>, %e: tensor<f32>) {
    stablehlo.return %a, %d : tensor<f32>, tensor<f32>
  }
  return
}

// -----

// Tests that (C2) of reduce is checked: init values of the inputs' element type.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f64>) {
  // expected-error @below {{(C2) requires a 0-dimensional init value of the input's element type}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f64>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

// Tests that (C3) of reduce is checked: an input.
func.func @f() {
  // expected-error @below {{(C3) requires as many init values as inputs, and at least one}}
  "stablehlo.reduce"() <{dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

// Tests that (C4) of reduce is checked: dimensions in range.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C4) requires dimensions of the inputs}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

// Tests that (C5) of reduce is checked: different dimensions.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C5) requires dimensions that are all different}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

// Tests that (C6) of reduce is checked: the number of arguments.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C6) requires a region of type ('tensor<f32>', 'tensor<f32>') -> ('tensor<f32>'), but got ('tensor<f32>') -> ('tensor<f32>')}}
  %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C6) of reduce is checked: a type to which the input's can be promoted.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C6) requires a region that returns 0-dimensional tensors, to which the inputs' element types can be promoted}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xbf16>
   reducer(%a: tensor<bf16>, %b: tensor<bf16>) {
    stablehlo.return %a : tensor<bf16>
  }
  return
}

// -----

// Tests that (C7) of reduce is checked: the result's shape.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands, but got 'tensor<8xf32>'}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

// Tests that (C8) of reduce is checked: the result's element type.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C8) requires result 0 to have the element type 'f32' that the region returns}}
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf64>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

// Tests that the compact form takes known ops only.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{'applies' names an unknown operation 'stablehlo.ad'}}
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.ad across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that the compact form takes one input only.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{'applies' requires one input and one init value}}
  %0:2 = stablehlo.reduce(%x init: %c), (%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// Tests that (C1) of reduce_window is checked: an input.
func.func @f() {
  // expected-error @below {{(C1) requires as many init values as inputs, and at least one}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

// Tests that (C2) of reduce_window is checked: inputs of one shape.
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C2) requires inputs of one shape}}
  %0:2 = "stablehlo.reduce_window"(%x, %y, %c, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x7xf32>, tensor<3x7xf32>)
  return
}

// -----

// Tests that (C3) of reduce_window is checked: init values of the inputs' element type.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f64>) {
  // expected-error @below {{(C3) requires a 0-dimensional init value of the input's element type}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f64>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C4) of reduce_window is checked: one window extent a dimension.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C4) requires one entry of window_dimensions for each of the 2 dimensions, but got 1}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C5) of reduce_window is checked: positive window extents.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C5) requires positive window_dimensions}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C6) of reduce_window is checked: one stride a dimension.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C6) requires one entry of window_strides for each of the 2 dimensions}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C7) of reduce_window is checked: positive strides.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C7) requires positive window_strides}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C8) of reduce_window is checked: one dilation of the base a dimension.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C8) requires one entry of base_dilations for each of the 2 dimensions}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C9) of reduce_window is checked: positive dilations of the base.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C9) requires positive base_dilations}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C10) of reduce_window is checked: one dilation of the window a dimension.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C10) requires one entry of window_dilations for each of the 2 dimensions}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C11) of reduce_window is checked: positive dilations of the window.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C11) requires positive window_dilations}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C12) of reduce_window is checked: one padding pair a dimension.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C12) requires padding of shape [2, 2], but got 'tensor<1x2xi64>'}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C13) of reduce_window is checked: the region's type.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C13) requires a region of type ('tensor<f32>', 'tensor<f32>') -> ('tensor<f32>')}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf32>
  return
}

// -----

// Tests that (C15) of reduce_window is checked: the result's shape.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{requires result type 'tensor<3x7xf32>' by its operands}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C16) of reduce_window is checked: the result's element type.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C16) requires result 0 to have the element type 'f32' that the region returns}}
  %0 = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x7xf64>
  return
}

// -----

// Tests that (C1) of select_and_scatter is checked: one element type.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf64>, %c: tensor<f32>) {
  // expected-error @below {{(C1) requires operand and source of one element type}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf64>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C2) of select_and_scatter is checked: one source element a window.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C2) requires a source with one element for each window, 'tensor<3x7xf32>', but got 'tensor<2x4xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C3) of select_and_scatter is checked: the init value's element type.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f64>) {
  // expected-error @below {{(C3) requires an init value of the operand's element type}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f64>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C4) of select_and_scatter is checked: one window extent a dimension.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C4) requires one entry of window_dimensions}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C5) of select_and_scatter is checked: positive window extents.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C5) requires positive window_dimensions}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C6) of select_and_scatter is checked: one stride a dimension.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C6) requires one entry of window_strides}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C7) of select_and_scatter is checked: positive strides.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C7) requires positive window_strides}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_strides = array<i64: 2, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C8) of select_and_scatter is checked: one padding pair a dimension.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C8) requires padding of shape [2, 2]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C9) of select_and_scatter is checked: the type of select.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C9) requires select of type ('tensor<f32>', 'tensor<f32>') -> ('tensor<i1>')}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C10) of select_and_scatter is checked: the type of scatter.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C10) requires a region that returns 1 values, but got 2}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C11) of select_and_scatter is checked: the result's shape.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{requires result type 'tensor<4x8xf32>' by its operands}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x7xf32>
  return
}

// -----

// Tests that (C12) of select_and_scatter is checked: the result's element type.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %c: tensor<f32>) {
  // expected-error @below {{(C12) requires result 0 to have the element type 'f32' that the region returns}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf64>
  return
}

// -----

// Tests that (C1) of map is checked: one shape.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires inputs and result of one shape}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C3) of map is checked: all dimensions.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires all 1 dimensions}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of map is checked: ascending dimensions.
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @below {{(C3) requires all dimensions in ascending order}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that (C4) of map is checked: the computation's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires a computation of type ('tensor<f32>') -> ('tensor<f32>')}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of sort is checked: an input.
func.func @f() {
  // expected-error @below {{(C1) requires at least one input}}
  "stablehlo.sort"() ({
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : () -> ()
  return
}

// -----

// Tests that (C2) of sort is checked: the results' types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C3) of sort is checked: inputs of one shape.
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{(C3) requires inputs of one shape}}
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

// Tests that (C4) of sort is checked: a dimension in range.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires a dimension in [-1, 1), but got -2}}
  %0 = "stablehlo.sort"(%x) <{dimension = -2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of sort is checked: the comparator's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C5) requires a comparator of type ('tensor<f32>', 'tensor<f32>') -> ('tensor<i1>')}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
