// Functions with several results, a composite by its decomposition, one of chlo's by its name, and a reduction of two arrays.
// RUN: eval
module @m {
  func.func public @main() {
    %x = stablehlo.constant dense<[3.0, 7.0, 5.0]> : tensor<3xf32>
    %0:2 = call @largest(%x) : (tensor<3xf32>) -> (tensor<f32>, tensor<i32>)
    check.expect_eq_const %0#0, dense<7.0> : tensor<f32>
    check.expect_eq_const %0#1, dense<1> : tensor<i32>
    %1 = stablehlo.composite "my.double" %x {composite_attributes = {n = 2 : i64}, decomposition = @double} : (tensor<3xf32>) -> tensor<3xf32>
    check.expect_eq_const %1, dense<[6.0, 14.0, 10.0]> : tensor<3xf32>
    %2:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64}, decomposition = @nothing, version = 1 : i32} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    check.expect_eq_const %2#0, dense<[7.0, 5.0]> : tensor<2xf32>
    check.expect_eq_const %2#1, dense<[1, 2]> : tensor<2xi32>
    return
  }
  func.func private @nothing(%arg0: tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
    %1 = stablehlo.constant dense<0> : tensor<2xi32>
    return %0, %1 : tensor<2xf32>, tensor<2xi32>
  }
  func.func private @double(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @largest(%arg0: tensor<3xf32>) -> (tensor<f32>, tensor<i32>) {
    %0 = stablehlo.iota dim = 0 : tensor<3xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<3xf32>, tensor<3xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.select %2, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %4 = stablehlo.select %2, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
    }
    return %1#0, %1#1 : tensor<f32>, tensor<i32>
  }
  func.func private @uncalled() {
    return
  }
}
