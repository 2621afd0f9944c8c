module @weights { func.func public @main(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<2xi32>, tensor<3xi1>) {
  %w = stablehlo.constant dense_resource<weights> : tensor<3x8xf32>
  %n = stablehlo.constant dense_resource<counts> : tensor<2xi32>
  %m = stablehlo.constant dense_resource<mask> : tensor<3xi1>
  %0 = stablehlo.multiply %x, %w : tensor<3x8xf32>
  return %0, %n, %m : tensor<3x8xf32>, tensor<2xi32>, tensor<3xi1> } }
{-#
  dialect_resources: {
    builtin: {
      weights: "0x04000000000000000000003F0000803F0000C03F0000004000002040000040400000604000008040000090400000A0400000B0400000C0400000D0400000E0400000F0400000004100000841000010410000184100002041000028410000304100003841",
      counts: "0x0400000005000000FFFFFFFF",
      mask: "0x01000000010001"
    }
  }
#-}
