// An operation of another dialect.
// RUN: verify
// ERROR: operations of the dialect 'linalg' are not known
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "linalg.copy"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
