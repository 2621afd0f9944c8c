// An alignment that is no power of two.
// RUN: verify
// ERROR: expected a power of two as the alignment in the first four bytes
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0300000005000000FFFFFFFF"
    }
  }
#-}
