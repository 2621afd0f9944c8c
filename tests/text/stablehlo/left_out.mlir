// Attributes that MLIR may leave out, count from the end or spell raw.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[3, 1, 2], [9, 8, 7]]> : tensor<2x3xi32>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[1, 2, 3], [7, 8, 9]]> : tensor<2x3xi32>
  %2 = "stablehlo.sort"(%x) <{dimension = -2 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[9, 8, 7], [3, 1, 2]]> : tensor<2x3xi32>
  %image = stablehlo.constant dense<[[[1, 2, 3, 4]], [[5, 6, 7, 8]]]> : tensor<2x1x4xi32>
  %kernel = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi32>
  // The image is batch, feature, width; the kernel width, output, input.
  %3 = "stablehlo.convolution"(%image, %kernel) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_feature_dimension = 1, input_spatial_dimensions = [2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [0], output_batch_dimension = 2, output_feature_dimension = 1, output_spatial_dimensions = [0]>, feature_group_count = 1 : i64}> : (tensor<2x1x4xi32>, tensor<2x1x1xi32>) -> tensor<3x1x2xi32>
  check.expect_eq_const %3, dense<[[[21, 65]], [[32, 76]], [[43, 87]]]> : tensor<3x1x2xi32>
  return
}
