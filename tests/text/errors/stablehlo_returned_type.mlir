// A value of another type than the function returns.
// RUN: verify
// ERROR: function '@main' returns tensor<2xf32> as result 0, its type says tensor<f32>
func.func @main(%x: tensor<2xf32>) -> tensor<f32> {
  return %x : tensor<2xf32>
}
