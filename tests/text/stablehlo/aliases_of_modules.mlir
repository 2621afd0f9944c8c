// What XLA writes of modules that were HLO: arguments that results overwrite, in the module's attributes. What an argument says
// itself goes before, and what doesn't fit is passed over.
// RUN: opt --passes=
module @jit_step attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 1 : i64}, output_index = array<i64: 0>}, {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 2 : i64}, output_index = array<i64: 1>}, {alias = {kind = "must_alias", parameter_index = array<i64: 3>, parameter_number = 0 : i64}, output_index = array<i64: 1>}, {alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 9 : i64}, output_index = array<i64: 1>}], mhlo.is_dynamic = false} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// AFTER:
// HloModule jit_step, input_output_alias={ {0}: (1, {}, may-alias) }
//
// ENTRY %main (arg0: f32[4], arg1: f32[4], arg2: f32[2]) -> (f32[4], f32[4]) {
//   %arg2 = f32[2] parameter(2)
//   %arg0 = f32[4] parameter(0)
//   %arg1 = f32[4] parameter(1)
//   %add.0 = f32[4] add(%arg0, %arg1)
//   %subtract.1 = f32[4] subtract(%arg0, %arg1)
//   ROOT %tuple.1 = (f32[4], f32[4]) tuple(%add.0, %subtract.1)
// }
//
