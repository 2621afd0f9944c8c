// An elided constant is unknown in StableHLO, too.
// RUN: eval
// ERROR: were left out of the text: expected them in full
// ERROR: (V14)
module @m {
  func.func public @main(%arg0: tensor<16xf32>) -> tensor<16xf32> {
    %0 = stablehlo.constant dense<__elided__> : tensor<16xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}
