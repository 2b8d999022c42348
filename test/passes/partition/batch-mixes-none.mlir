// No remark where rows stay apart, where counts and positions alone are mixed, and where the rows are no longer followed.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics -pipe-partition-find-batch-mixes=join=mean

pipe.weight @table parameter : tensor<9x6xf32> from #pipe.source<"m", 0, 216>
pipe.weight @w parameter : tensor<6x6xf32> from #pipe.source<"m", 216, 144>

// A block of a transformer: tokens of all rows in one dimension for the product, heads apart for attention.
pipe.graph @transformer(%ids: tensor<4x5xi64>, %keep: tensor<4x5xi1>) -> tensor<4x5x6xf32> {
  %table = pipe.load_weight @table : tensor<9x6xf32>
  %w = pipe.load_weight @w : tensor<6x6xf32>
  %0 = pipe.gather %table, %ids dim 0 : (tensor<9x6xf32>, tensor<4x5xi64>) -> tensor<4x5x6xf32>
  %1 = pipe.layer_norm %0 axis 2 epsilon 1.0e-5 : (tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  %2 = pipe.reshape %1 to [20, 6] : (tensor<4x5x6xf32>) -> tensor<20x6xf32>
  %3 = pipe.dot_general %2, %w contract [1] x [1] : (tensor<20x6xf32>, tensor<6x6xf32>) -> tensor<20x6xf32>
  %4 = pipe.reshape %3 to [4, 5, 2, 3] : (tensor<20x6xf32>) -> tensor<4x5x2x3xf32>
  %5 = pipe.transpose %4 by [0, 2, 1, 3] : (tensor<4x5x2x3xf32>) -> tensor<4x2x5x3xf32>
  %6 = pipe.dot_general %5, %5 batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<4x2x5x3xf32>, tensor<4x2x5x3xf32>) -> tensor<4x2x5x5xf32>
  %7 = pipe.softmax %6 dim 3 : (tensor<4x2x5x5xf32>) -> tensor<4x2x5x5xf32>
  %8 = pipe.dot_general %7, %5 batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<4x2x5x5xf32>, tensor<4x2x5x3xf32>) -> tensor<4x2x5x3xf32>
  %mask = pipe.reshape %keep to [4, 1, 1, 5] : (tensor<4x5xi1>) -> tensor<4x1x1x5xi1>
  %9 = pipe.attention %8, %5, %5 mask %mask scale 1.0 : (tensor<4x2x5x3xf32>, tensor<4x2x5x3xf32>, tensor<4x2x5x3xf32>, tensor<4x1x1x5xi1>) -> tensor<4x2x5x3xf32>
  %10 = pipe.transpose %9 by [0, 2, 1, 3] : (tensor<4x2x5x3xf32>) -> tensor<4x5x2x3xf32>
  %11 = pipe.reshape %10 to [4, 5, 6] : (tensor<4x5x2x3xf32>) -> tensor<4x5x6xf32>
  %12 = pipe.add %0, %11 : (tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
  pipe.output %12 : tensor<4x5x6xf32>
}

// -----

// Instance normalisation with rows beside the channels; windows; statistics that are stored.
pipe.weight @k parameter : tensor<6x6x3xf32> from #pipe.source<"m", 0, 432>
pipe.weight @c parameter : tensor<6xf32> from #pipe.source<"m", 432, 24>
pipe.graph @convolutions(%x: tensor<4x6x8xf32>) -> tensor<4x6x4xf32> {
  %k = pipe.load_weight @k : tensor<6x6x3xf32>
  %c = pipe.load_weight @c : tensor<6xf32>
  %0 = pipe.convolution %x, %k strides [1] padding [1, 1] dilations [1] : (tensor<4x6x8xf32>, tensor<6x6x3xf32>) -> tensor<4x6x8xf32>
  %1 = pipe.batch_norm %0 scale %c bias %c mean %c variance %c epsilon 1.0e-5 : (tensor<4x6x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x8xf32>
  %2 = pipe.reshape %1 to [1, 24, 8] : (tensor<4x6x8xf32>) -> tensor<1x24x8xf32>
  %3 = pipe.group_norm %2 groups 24 epsilon 1.0e-5 : (tensor<1x24x8xf32>) -> tensor<1x24x8xf32>
  %4 = pipe.reshape %3 to [4, 6, 8] : (tensor<1x24x8xf32>) -> tensor<4x6x8xf32>
  %5 = pipe.max_pool %4 window [2] strides [2] padding [0, 0] dilations [1] : (tensor<4x6x8xf32>) -> tensor<4x6x4xf32>
  pipe.output %5 : tensor<4x6x4xf32>
}

// -----

// Rows in the middle: each softmax, norm and sum lies beside them.
pipe.graph @turned(%x: tensor<4x5x3xf32>) -> tensor<4x5xf32> {
  %0 = pipe.transpose %x by [1, 0, 2] : (tensor<4x5x3xf32>) -> tensor<5x4x3xf32>
  %1 = pipe.softmax %0 dim 0 : (tensor<5x4x3xf32>) -> tensor<5x4x3xf32>
  %2 = pipe.reshape %1 to [5, 12] : (tensor<5x4x3xf32>) -> tensor<5x12xf32>
  %3 = pipe.cumulative cumsum %2 dim 0 : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %4 = pipe.reshape %3 to [5, 4, 3] : (tensor<5x12xf32>) -> tensor<5x4x3xf32>
  %5 = pipe.reduce sum %4 dims [2] : (tensor<5x4x3xf32>) -> tensor<5x4xf32>
  %6 = pipe.transpose %5 by [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  pipe.output %6 : tensor<4x5xf32>
}

// -----

// Experts that sort their tokens and put them back, with counts of them as an output.
pipe.graph @experts(%x: tensor<4x3xf32>, %choice: tensor<4xi64>) -> (tensor<4x3xf32>, tensor<f32>) {
  %0:2 = pipe.top_k %choice k 4 dim 0 : (tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
  %1 = pipe.gather %x, %0#1 dim 0 : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %2 = pipe.relu %1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = pipe.reshape %0#1 to [4, 1] : (tensor<4xi64>) -> tensor<4x1xi64>
  %4 = pipe.scatter_nd set %x, %3, %2 : (tensor<4x3xf32>, tensor<4x1xi64>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %5 = pipe.convert %choice : (tensor<4xi64>) -> tensor<4xf32>
  %6 = pipe.reduce sum %5 dims [0] : (tensor<4xf32>) -> tensor<f32>
  pipe.output %4, %6 : tensor<4x3xf32>, tensor<f32>
}

// -----

// What is mixed reaches no output; an input that every microbatch gets whole has no rows.
pipe.graph @apart(%x: tensor<4x3xf32>, %y: tensor<4x3xf32> {pipe.whole}) -> tensor<4x3xf32> {
  %0 = pipe.softmax %x dim 0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = pipe.softmax %y dim 0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = pipe.add %x, %1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  pipe.output %2 : tensor<4x3xf32>
}

// -----

// One row: nothing can be told.
pipe.graph @single(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = pipe.softmax %x dim 0 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  pipe.output %0 : tensor<1x3xf32>
}

// -----

// Statistics of BatchNorm in training mode have a warning of their own.
pipe.graph @batchNorm(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = pipe.reduce mean %x dims [0] keep : (tensor<4x3xf32>) -> tensor<1x3xf32> loc(fused<#pipe.origin<0, "BatchNormalization", "bn", "bn">>["m"])
  %1 = pipe.sub %x, %0 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc(fused<#pipe.origin<0, "BatchNormalization", "bn", "bn">>["m"])
  pipe.output %1 : tensor<4x3xf32>
}

// -----

// Labels moved one to the right, as the exporter of torch.export has it: slices of positions, rows behind them.
pipe.graph @scattered(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %zero = pipe.constant dense<0.0> : tensor<3x4xf32>
  %at = pipe.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %0 = pipe.transpose %x by [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = pipe.scatter_nd set %zero, %at, %0 : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %2 = pipe.transpose %1 by [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  pipe.output %2 : tensor<4x3xf32>
}
