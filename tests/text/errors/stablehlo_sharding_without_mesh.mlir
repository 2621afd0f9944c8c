// A sharding constraint whose sharding is something else.
// RUN: verify
// ERROR: expected a value and its sharding
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "sdy.sharding_constraint"(%x) {sharding = "none"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
