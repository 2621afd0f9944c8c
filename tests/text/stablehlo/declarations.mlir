// Functions without a body are passed over; calls of them have no function.
// RUN: verify
// ERROR: no function is named '@there'
module {
  func.func private @elsewhere(tensor<2xf32>, tensor<f32> {a.b = 1 : i32}) -> (tensor<2xf32>, tensor<f32>)
  func.func private @there() -> tensor<2xf32>
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @there() : () -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
