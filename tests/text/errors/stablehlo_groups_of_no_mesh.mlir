// Groups by the axes of a mesh that the module doesn't have.
// RUN: verify
// ERROR: there is no mesh @other
func.func @main(%x: tensor<8x64xf32>) -> tensor<16x64xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @other, axes = [#stablehlo.axis_ref<name = "b">]>}> : (tensor<8x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
