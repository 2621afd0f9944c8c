// A layout that names a dimension twice.
// RUN: verify
// ERROR: expected each dimension once
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 0]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
