// Two resources of one name.
// RUN: verify
// ERROR: found the resource 'weights' twice
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x0400000005000000FFFFFFFF",
      weights: "0x0400000006000000FFFFFFFF"
    }
  }
#-}
