// Half a byte.
// RUN: verify
// ERROR: expected two hexadecimal digits for each byte
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000005000000FFFFFFF"
    }
  }
#-}
