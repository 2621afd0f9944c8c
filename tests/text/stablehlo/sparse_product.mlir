// A product with a compressed sparse matrix, as JAX calls it on CPUs, is gathers and scatters; an empty row stays zero,
// and elements behind the last row's end count for nothing.
// RUN: eval
module @m {
  func.func @main() -> (tensor<3xf32>, tensor<3x2xf32>, tensor<2xf32>) {
    %elements = stablehlo.constant dense<[2.0, 3.0, 5.0, 7.0, 1000.0]> : tensor<5xf32>
    %starts = stablehlo.constant dense<[0, 2, 2, 4]> : tensor<4xi32>
    %columns = stablehlo.constant dense<[0, 3, 1, 1, 2]> : tensor<5xi32>
    %vector = stablehlo.constant dense<[1.0, 10.0, 100.0, 1000.0]> : tensor<4xf32>
    %matrix = stablehlo.constant dense<[[1.0, 0.0], [10.0, 1.0], [100.0, 2.0], [1000.0, 3.0]]> : tensor<4x2xf32>
    %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %vector) {api_version = 4 : i32, backend_config = {}} : (tensor<5xf32>, tensor<4xi32>, tensor<5xi32>, tensor<4xf32>) -> tensor<3xf32>
    check.expect_eq_const %0, dense<[3002.0, 0.0, 120.0]> : tensor<3xf32>
    %1 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %matrix) {api_version = 4 : i32, backend_config = {}} : (tensor<5xf32>, tensor<4xi32>, tensor<5xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    check.expect_eq_const %1, dense<[[3002.0, 9.0], [0.0, 0.0], [120.0, 12.0]]> : tensor<3x2xf32>
    %none = stablehlo.constant dense<> : tensor<0xf32>
    %no_columns = stablehlo.constant dense<> : tensor<0xi32>
    %no_starts = stablehlo.constant dense<0> : tensor<3xi32>
    %2 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%none, %no_starts, %no_columns, %vector) {api_version = 4 : i32, backend_config = {}} : (tensor<0xf32>, tensor<3xi32>, tensor<0xi32>, tensor<4xf32>) -> tensor<2xf32>
    check.expect_eq_const %2, dense<0.0> : tensor<2xf32>
    return %0, %1, %2 : tensor<3xf32>, tensor<3x2xf32>, tensor<2xf32>
  }
}
