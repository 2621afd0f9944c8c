// A check that is not known.
// RUN: verify
// ERROR: 'check.expect_serialized_eq' can't be checked here
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  check.expect_serialized_eq %x : tensor<4xf32>
  return %x : tensor<4xf32>
}
