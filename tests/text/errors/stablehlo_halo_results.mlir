// As many results as there are amounts.
// RUN: verify
// ERROR: enzymexla.multi_rotate: found 2 results, expected 3
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = "enzymexla.multi_rotate"(%x) <{dimension = 0 : i32, left_amount = 1 : i32, right_amount = 1 : i32}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}
