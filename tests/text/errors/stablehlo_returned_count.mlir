// Fewer values than the function returns.
// RUN: verify
// ERROR: function '@main' returns 0 values, its type says 1
func.func @main() -> tensor<f32> {
  return
}
