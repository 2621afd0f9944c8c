// Too few bytes to say how the data are aligned.
// RUN: verify
// ERROR: expected four bytes that say how the data are aligned
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400"
    }
  }
#-}
