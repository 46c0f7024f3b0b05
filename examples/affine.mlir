// The program of examples/c and examples/cpp: x * w + b.
module @affine {
  func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
    %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %bias = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %sum = stablehlo.add %product, %bias : tensor<4x2xf32>
    return %sum : tensor<4x2xf32>
  }
}
