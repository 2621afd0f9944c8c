// chlo.scan in both forms: outputs of all steps, then what is carried out of the last.
// RUN: eval
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<[0, 10]> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%init) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %carry: tensor<2xi32>):
    %2 = stablehlo.add %a, %carry : tensor<2xi32>
    stablehlo.return %2, %2 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[6, 5, 3], [25, 21, 16]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[6, 25]> : tensor<2xi32>
  %1:2 = "chlo.scan"(%x, %init) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<2xi32>, %carry: tensor<2xi32>):
    %2 = stablehlo.maximum %a, %carry : tensor<2xi32>
    stablehlo.return %2, %2 : tensor<2xi32>, tensor<2xi32>
  }) : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %1#0, dense<[[1, 2, 3], [10, 10, 10]]> : tensor<2x3xi32>
  check.expect_eq_const %1#1, dense<[3, 10]> : tensor<2xi32>
  %s = stablehlo.constant dense<2> : tensor<2x2xi64>
  %k = stablehlo.constant dense<0> : tensor<1x2xi64>
  %lhs = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi64>
  %rhs = stablehlo.constant dense<1> : tensor<3x1x1xi64>
  %3 = stablehlo.dynamic_conv(%lhs, %rhs, %k)
    dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {
      stride = [1]
    } {
      batch_group_count = 1 : i64,
      feature_group_count = 1 : i64,
      precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
    }
  : (tensor<1x4x1xi64>, tensor<3x1x1xi64>, tensor<1x2xi64>) -> tensor<1x2x1xi64>
  check.expect_eq_const %3, dense<[[[6], [9]]]> : tensor<1x2x1xi64>
  return
}
