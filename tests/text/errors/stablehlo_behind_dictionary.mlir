// Something after a dictionary.
// RUN: verify
// ERROR: expected ',' or '}' behind an attribute
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) {backend_config = {a = 1 : i32}2 b = {c = "d"}, api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
