// A resource that the section lacks.
// RUN: verify
// ERROR: found 'weights', expected the name of one of the builtin dialect_resources
module {
  func.func @main() -> tensor<2xi32> {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      other: "0x0400000005000000FFFFFFFF"
    }
  }
#-}
