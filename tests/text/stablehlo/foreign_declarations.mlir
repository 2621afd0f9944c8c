// What other dialects declare beside the functions is skipped; calls of it are custom calls.
// RUN: opt --passes=
module @m attributes {transform.with_named_sequence} {
  llvm.func @sgetrf_(!llvm.ptr, !llvm.ptr) -> ()
  llvm.func private @wrapper(%arg0: !llvm.ptr {llvm.nofree}, %arg1: !llvm.ptr) {
    llvm.call @sgetrf_(%arg0, %arg1) : (!llvm.ptr, !llvm.ptr) -> ()  // }
    llvm.return
  }
  llvm.mlir.global internal constant @name("a \"} b") {addr_space = 0 : i32}
  transform.named_sequence @__transform_main(%arg0: !transform.any_op) {
    transform.yield
  }
  "memref.global"() <{sym_name = "table", type = memref<2xf32>}> : () -> ()
  func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0 = enzymexla.jit_call @wrapper (%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], xla_side_effect_free} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>
  }
}

// AFTER:
// HloModule m
//
// ENTRY %main (x: f32[2,2]) -> f32[2,2] {
//   %x = f32[2,2] parameter(0)
//   ROOT %custom-call.0 = f32[2,2]{0,1} custom-call(%x), custom_call_target="wrapper", output_to_operand_aliasing={{}: (0, {})}, operand_layout_constraints={f32[2,2]{0,1}}
// }
//
