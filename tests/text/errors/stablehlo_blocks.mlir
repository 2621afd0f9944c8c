// A region of two blocks.
// RUN: verify
// ERROR: expected a region of one block
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
^bb1:
  return %x : tensor<f32>
}
