// A letter that is no digit.
// RUN: verify
// ERROR: expected a hexadecimal digit
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000005000000FFFFGFFF"
    }
  }
#-}
