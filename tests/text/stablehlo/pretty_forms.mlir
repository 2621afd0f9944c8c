// Operations in the forms that JAX prints become instructions of HLO, attributes and all.
// RUN: opt --passes=
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<6x2xf32> {jax.buffer_donor = true}, %arg2: tensor<i32>) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<4x2xf32>, tensor<4xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.slice %arg0 [0:4:2, 1:3] : (tensor<4x6xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.pad %1, %cst, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %3 = stablehlo.compare LT, %0, %2, FLOAT : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xi1>
    %4 = stablehlo.select %3, %0, %2 : tensor<4x2xi1>, tensor<4x2xf32>
    %5 = stablehlo.iota dim = 1 : tensor<4x6xi32>
    %6 = stablehlo.convert %5 : (tensor<4x6xi32>) -> tensor<4x6xf32>
    %7 = stablehlo.concatenate %6, %arg0, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
    %8 = stablehlo.dynamic_slice %7, %arg2, %arg2, sizes = [4, 6] : (tensor<4x12xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %9 = stablehlo.reduce_precision %8, format = e5m10 : tensor<4x6xf32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %11:2 = stablehlo.optimization_barrier %9, %10 : tensor<4x6xf32>, tensor<4xf32>
    return %11#0, %4, %11#1 : tensor<4x6xf32>, tensor<4x2xf32>, tensor<4xf32>
  }
}

// AFTER:
// HloModule jit_step, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }
//
// %reduce.to_apply (lhs: f32[], rhs: f32[]) -> f32[] {
//   %lhs = f32[] parameter(0)
//   %rhs = f32[] parameter(1)
//   ROOT %applied = f32[] add(%lhs, %rhs)
// }
//
// ENTRY %main (arg0: f32[4,6], arg1: f32[6,2], arg2: s32[]) -> (f32[4,6], f32[4,2], f32[4]) {
//   %iota.5 = s32[4,6] iota(), iota_dimension=1
//   %convert.6 = f32[4,6] convert(%iota.5)
//   %arg0 = f32[4,6] parameter(0)
//   %concatenate.7 = f32[4,12] concatenate(%convert.6, %arg0), dimensions={1}
//   %arg2 = s32[] parameter(2)
//   %dynamic-slice.8 = f32[4,6] dynamic-slice(%concatenate.7, %arg2, %arg2), dynamic_slice_sizes={4,6}
//   %reduce-precision.9 = f32[4,6] reduce-precision(%dynamic-slice.8), exponent_bits=5, mantissa_bits=10
//   %cst = f32[] constant(0)
//   %reduce.10 = f32[4] reduce(%reduce-precision.9, %cst), dimensions={1}, to_apply=%reduce.to_apply
//   %tuple.1 = (f32[4,6], f32[4]) tuple(%reduce-precision.9, %reduce.10)
//   %opt-barrier.11 = (f32[4,6], f32[4]) opt-barrier(%tuple.1)
//   %get-tuple-element.1 = f32[4,6] get-tuple-element(%opt-barrier.11), index=0
//   %arg1 = f32[6,2] parameter(1)
//   %dot.0 = f32[4,2] dot(%arg0, %arg1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,default}
//   %slice.1 = f32[2,2] slice(%arg0), slice={[0:4:2], [1:3:1]}
//   %pad.2 = f32[4,2] pad(%slice.1, %cst), padding=1_1x0_0
//   %compare.3 = pred[4,2] compare(%dot.0, %pad.2), direction=LT, type=FLOAT
//   %select.4 = f32[4,2] select(%compare.3, %dot.0, %pad.2)
//   %get-tuple-element.2 = f32[4] get-tuple-element(%opt-barrier.11), index=1
//   ROOT %tuple.2 = (f32[4,6], f32[4,2], f32[4]) tuple(%get-tuple-element.1, %select.4, %get-tuple-element.2)
// }
//
