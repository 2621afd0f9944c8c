// Collectives whose groups are named by the axes of a mesh: devices that differ only along these form a group.
// RUN: opt --passes=
module @m attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["a"=4, "b"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>
  func.func public @main(%arg0: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<16x64xf32>, tensor<8x64xf32>) {
    %0 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "b">]>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>, use_global_device_ids}> : (tensor<8x64xf32>) -> tensor<16x64xf32>
    %2 = "stablehlo.all_to_all"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 4>, #stablehlo.mesh_axis<name = "b", size = 2>]>, axes = [#stablehlo.axis_ref<name = "a">]>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    return %0, %1, %2 : tensor<8x64xf32>, tensor<16x64xf32>, tensor<8x64xf32>
  }
}

// AFTER:
// HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=4, "b"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]>}}
//
// %all_reduce.to_apply (arg1: f32[], arg2: f32[]) -> f32[] {
//   %arg1 = f32[] parameter(0)
//   %arg2 = f32[] parameter(1)
//   ROOT %add.3 = f32[] add(%arg1, %arg2)
// }
//
// ENTRY %main (arg0: f32[8,64]) -> (f32[8,64], f32[16,64], f32[8,64]) {
//   %arg0 = f32[8,64] parameter(0)
//   %all-reduce.0 = f32[8,64] all-reduce(%arg0), replica_groups={{1,0,4,5},{2,3,6,7}}, use_global_device_ids=true, to_apply=%all_reduce.to_apply, channel_id=1
//   %all-gather.1 = f32[16,64] all-gather(%arg0), replica_groups={{1,0},{2,3},{4,5},{6,7}}, dimensions={0}, use_global_device_ids=true, channel_id=2
//   %all-to-all.2 = f32[8,64] all-to-all(%arg0), replica_groups={{0,2,4,6},{1,3,5,7}}, dimensions={0}, channel_id=3
//   ROOT %tuple.1 = (f32[8,64], f32[16,64], f32[8,64]) tuple(%all-reduce.0, %all-gather.1, %all-to-all.2)
// }
//
