// A branch with arguments.
// RUN: verify
// ERROR: found arguments in a branch
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
