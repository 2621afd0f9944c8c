// Extents that are not known before it runs.
// RUN: verify
// ERROR: 'dynamic_iota' with extents that are not known before it runs
func.func @main(%n: tensor<1xi64>) -> tensor<?xi32> {
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
