// Raw dimension numbers that name a dimension twice.
// RUN: verify
// ERROR: expected each dimension once
func.func @main(%x: tensor<1x2x4xf32>, %k: tensor<2x2x3xf32>) -> tensor<1x3x3xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 1, input_feature_dimension = 1, input_spatial_dimensions = [2], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [2]>, feature_group_count = 1 : i64}> : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x3x3xf32>
  return %0 : tensor<1x3x3xf32>
}
