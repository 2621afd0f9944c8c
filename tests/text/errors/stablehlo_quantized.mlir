// Quantized numbers are not computed with.
// RUN: verify
// ERROR: quantized element types can't be computed with
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.5:1>>
  return %x : tensor<4xf32>
}
