// A compressed sparse matrix has one start more than rows.
// RUN: verify
// ERROR: 6:10: cpu_csr_sparse_dense_ffi: expected elements, where each row begins and the last ends
module @m {
  func.func @main(%elements: tensor<5xf32>, %starts: tensor<4xi32>, %columns: tensor<5xi32>, %vector: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%elements, %starts, %columns, %vector) {api_version = 4 : i32, backend_config = {}} : (tensor<5xf32>, tensor<4xi32>, tensor<5xi32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
