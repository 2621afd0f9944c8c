// A resource with fewer bytes than its type takes: one element stands for no others.
// RUN: verify
// ERROR: expected 8 bytes for 2 elements
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000005000000"
    }
  }
#-}
