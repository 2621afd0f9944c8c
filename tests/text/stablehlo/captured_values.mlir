// What regions take from outside becomes operands: of loops as carried values, of branches one by one; constants are made anew.
// RUN: opt --passes=
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_0 = stablehlo.constant dense<3> : tensor<i32>
  %outside = stablehlo.exponential %arg0 : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %c, %x = %arg0) : tensor<i32>, tensor<4xf32>
  cond {
    %2 = stablehlo.compare LT, %i, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %i, %c_1 : tensor<i32>
    %3 = stablehlo.add %x, %outside : tensor<4xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>
  }
  %1 = "stablehlo.if"(%arg1) ({
    stablehlo.return %0#1 : tensor<4xf32>
  }, {
    %2 = stablehlo.multiply %outside, %arg0 : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0#1, %1 : tensor<4xf32>, tensor<4xf32>
}

// AFTER:
// HloModule main
//
// %while.condition (parameter.1: (s32[], f32[4], f32[4])) -> pred[] {
//   %parameter.1 = (s32[], f32[4], f32[4]) parameter(0)
//   %get-tuple-element.1 = s32[] get-tuple-element(%parameter.1), index=0
//   %constant.1 = s32[] constant(3)
//   ROOT %compare.2 = pred[] compare(%get-tuple-element.1, %constant.1), direction=LT, type=SIGNED
// }
//
// %while.body (parameter.1: (s32[], f32[4], f32[4])) -> (s32[], f32[4], f32[4]) {
//   %parameter.1 = (s32[], f32[4], f32[4]) parameter(0)
//   %get-tuple-element.1 = s32[] get-tuple-element(%parameter.1), index=0
//   %c_1 = s32[] constant(1)
//   %add.2 = s32[] add(%get-tuple-element.1, %c_1)
//   %get-tuple-element.2 = f32[4] get-tuple-element(%parameter.1), index=1
//   %get-tuple-element.3 = f32[4] get-tuple-element(%parameter.1), index=2
//   %add.3 = f32[4] add(%get-tuple-element.2, %get-tuple-element.3)
//   ROOT %tuple.1 = (s32[], f32[4], f32[4]) tuple(%add.2, %add.3, %get-tuple-element.3)
// }
//
// %branch_0 (parameter.1: f32[4]) -> f32[4] {
//   ROOT %parameter.1 = f32[4] parameter(0)
// }
//
// %branch_1 (parameter.1: (f32[4], f32[4])) -> f32[4] {
//   %parameter.1 = (f32[4], f32[4]) parameter(0)
//   %get-tuple-element.1 = f32[4] get-tuple-element(%parameter.1), index=0
//   %get-tuple-element.2 = f32[4] get-tuple-element(%parameter.1), index=1
//   ROOT %multiply.2 = f32[4] multiply(%get-tuple-element.1, %get-tuple-element.2)
// }
//
// ENTRY %main (arg0: f32[4], arg1: pred[]) -> (f32[4], f32[4]) {
//   %c = s32[] constant(0)
//   %arg0 = f32[4] parameter(0)
//   %outside = f32[4] exponential(%arg0)
//   %tuple.1 = (s32[], f32[4], f32[4]) tuple(%c, %arg0, %outside)
//   %while.0 = (s32[], f32[4], f32[4]) while(%tuple.1), condition=%while.condition, body=%while.body
//   %get-tuple-element.1 = f32[4] get-tuple-element(%while.0), index=1
//   %arg1 = pred[] parameter(1)
//   %tuple.2 = (f32[4], f32[4]) tuple(%outside, %arg0)
//   %conditional.1 = f32[4] conditional(%arg1, %get-tuple-element.1, %tuple.2), true_computation=%branch_0, false_computation=%branch_1
//   ROOT %tuple.3 = (f32[4], f32[4]) tuple(%get-tuple-element.1, %conditional.1)
// }
//
