// A mesh whose name would end elsewhere in HLO, which writes names of meshes without quotation marks.
// RUN: verify
// ERROR: the name of the mesh 'my mesh' has other characters than words
module @m attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @"my mesh" = <["x"=2]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
