// A dictionary of a custom call, which HLO keeps as it is written, where HLO would read a comment and MLIR doesn't.
// RUN: verify
// ERROR: this dictionary ends elsewhere for HLO
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) {backend_config = {a = #b< /* >}, api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
