// The class token in front of every row's patches is the same for all rows: rows of it at fixed positions are those of any microbatch.
// RUN: pipec-opt %s -split-input-file -pipe-partition-find-batch-mixes -verify-diagnostics

pipe.weight @token parameter : tensor<1x1x4xf32> from #pipe.source<"m", 0, 16>
pipe.weight @places parameter : tensor<1x3x4xf32> from #pipe.source<"m", 16, 48>

pipe.graph @main(%x: tensor<6x2x4xf32>) -> tensor<3x4xf32> {
  %t = pipe.load_weight @token : tensor<1x1x4xf32>
  %p = pipe.load_weight @places : tensor<1x3x4xf32>
  %0 = pipe.broadcast %t to [6, 1, 4] : (tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  %1 = pipe.concat %0, %x dim 1 : (tensor<6x1x4xf32>, tensor<6x2x4xf32>) -> tensor<6x3x4xf32>
  %2 = pipe.add %1, %p : (tensor<6x3x4xf32>, tensor<1x3x4xf32>) -> tensor<6x3x4xf32>
  %3 = pipe.slice %2 [0, 0, 0] to [3, 3, 4] by [1, 1, 1] : (tensor<6x3x4xf32>) -> tensor<3x3x4xf32>
  %i = pipe.constant dense<0> : tensor<i64>
  %4 = pipe.gather %3, %i dim 1 : (tensor<3x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
  pipe.output %4 : tensor<3x4xf32>
}

// -----

pipe.weight @token parameter : tensor<1x1x4xf32> from #pipe.source<"m", 0, 16>

pipe.graph @by_slices(%x: tensor<6x2x4xf32>) -> tensor<3x4xf32> {
  %t = pipe.load_weight @token : tensor<1x1x4xf32>
  %0 = pipe.broadcast %t to [6, 1, 4] : (tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  %1 = pipe.concat %x, %0 dim 1 : (tensor<6x2x4xf32>, tensor<6x1x4xf32>) -> tensor<6x3x4xf32>
  %2 = pipe.transpose %1 by [1, 0, 2] : (tensor<6x3x4xf32>) -> tensor<3x6x4xf32>
  %3 = pipe.slice %2 [1, 0, 0] to [3, 3, 4] by [1, 1, 1] : (tensor<3x6x4xf32>) -> tensor<2x3x4xf32>
  %4 = pipe.slice %3 [1, 0, 0] to [2, 3, 4] by [1, 1, 1] : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %5 = pipe.reshape %4 to [3, 4] : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
  pipe.output %5 : tensor<3x4xf32>
}

// -----

// The first patch is the row's own.
pipe.weight @token parameter : tensor<1x1x4xf32> from #pipe.source<"m", 0, 16>

pipe.graph @patch(%x: tensor<6x2x4xf32>) -> tensor<6x4xf32> {
  %t = pipe.load_weight @token : tensor<1x1x4xf32>
  %0 = pipe.broadcast %t to [6, 1, 4] : (tensor<1x1x4xf32>) -> tensor<6x1x4xf32>
  %1 = pipe.concat %0, %x dim 1 : (tensor<6x1x4xf32>, tensor<6x2x4xf32>) -> tensor<6x3x4xf32>
  // expected-remark @+1 {{takes rows at fixed positions}}
  %2 = pipe.slice %1 [0, 0, 0] to [1, 3, 4] by [1, 1, 1] : (tensor<6x3x4xf32>) -> tensor<1x3x4xf32>
  %i = pipe.constant dense<1> : tensor<i64>
  %3 = pipe.gather %2, %i dim 1 : (tensor<1x3x4xf32>, tensor<i64>) -> tensor<1x4xf32>
  %4 = pipe.broadcast %3 to [6, 4] : (tensor<1x4xf32>) -> tensor<6x4xf32>
  pipe.output %4 : tensor<6x4xf32>
}
