// Constants in all their spellings have the values that they spell.
// RUN: eval
#alias = dense<[1, 2]> : tensor<2xi64>
module {
  func.func @main() {
    %splat = stablehlo.constant dense<1.5> : tensor<2x3xf32>
    check.expect_eq_const %splat, dense<[[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]> : tensor<2x3xf32>
    %bytes = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
    check.expect_eq_const %bytes, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %bits = stablehlo.constant dense<[0x7F800000, 0xBF800000]> : tensor<2xf32>
    %infinite = stablehlo.is_finite %bits : (tensor<2xf32>) -> tensor<2xi1>
    check.expect_eq_const %infinite, dense<[false, true]> : tensor<2xi1>
    %half = stablehlo.constant dense<[0x3C00, 0xC000]> : tensor<2xf16>
    check.expect_eq_const %half, dense<[1.0, -2.0]> : tensor<2xf16>
    %brain = stablehlo.constant dense<1.000000e+02> : tensor<bf16>
    check.expect_eq_const %brain, dense<1.0e2> : tensor<bf16>
    %complex = stablehlo.constant dense<[(1.0,2.0), (0x00000000,-1.0)]> : tensor<2xcomplex<f32>>
    %imaginary = stablehlo.imag %complex : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    check.expect_eq_const %imaginary, dense<[2.0, -1.0]> : tensor<2xf32>
    %packed = stablehlo.constant dense<"0x0D"> : tensor<4xi1>
    check.expect_eq_const %packed, dense<[true, false, true, true]> : tensor<4xi1>
    %short = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
    %long = stablehlo.convert %short : (tensor<2xi4>) -> tensor<2xi32>
    check.expect_eq_const %long, dense<[7, -8]> : tensor<2xi32>
    %eight = stablehlo.constant dense<[448.0, 0x7F]> : tensor<2xf8E4M3FN>
    %wide = stablehlo.convert %eight : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
    check.expect_almost_eq_const %wide, dense<[448.0, 0x7FC00000]> : tensor<2xf32>
    %hex = stablehlo.constant dense<[0xFF, 0x01]> : tensor<2xui8>
    check.expect_eq_const %hex, dense<[255, 1]> : tensor<2xui8>
    %resource = stablehlo.constant dense_resource<blob> : tensor<2xi32>
    check.expect_eq_const %resource, dense<[5, -1]> : tensor<2xi32>
    %quoted = stablehlo.constant dense_resource<"two words"> : tensor<3xi8>
    check.expect_eq_const %quoted, dense<[1, 2, -1]> : tensor<3xi8>
    %truths = stablehlo.constant dense_resource<truths> : tensor<3xi1>
    check.expect_eq_const %truths, dense<[true, false, true]> : tensor<3xi1>
    return
  }
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x0400000005000000FFFFFFFF",
      "two words": "0x000000000102ff",
      truths: "0x01000000010001"
    },
    other: {
      blob: "0x0400000007000000FFFFFFFF"
    }
  },
  external_resources: {
    mlir_reproducer: {
      verify_each: true,
      pipeline: "builtin.module(cse)"
    }
  }
#-}
