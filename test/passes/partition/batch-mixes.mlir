// Every way in which rows of the batch are mixed, where it reaches an output.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics -pipe-partition-find-batch-mixes
// RUN: not pipec-opt %s -split-input-file -pipe-partition-find-batch-mixes=join=max 2>&1 | FileCheck %s
// CHECK: join must be none, sum or mean, got 'max'

// x - x.mean(0)
pipe.graph @centred(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-remark @+1 {{reduces over the batch}}
  %0 = pipe.reduce mean %x dims [0] keep : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %1 = pipe.sub %x, %0 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  pipe.output %1 : tensor<4x3xf32>
}

// -----

// Rows and positions in one dimension; then behind a transpose.
pipe.graph @merged(%x: tensor<4x5x3xf32>) -> tensor<4x5x3xf32> {
  %0 = pipe.reshape %x to [20, 3] : (tensor<4x5x3xf32>) -> tensor<20x3xf32>
  %1 = pipe.transpose %0 by [1, 0] : (tensor<20x3xf32>) -> tensor<3x20xf32>
  // expected-remark @+1 {{normalises over the batch}}
  %2 = pipe.softmax %1 dim 1 : (tensor<3x20xf32>) -> tensor<3x20xf32>
  %3 = pipe.transpose %2 by [1, 0] : (tensor<3x20xf32>) -> tensor<20x3xf32>
  %4 = pipe.reshape %3 to [4, 5, 3] : (tensor<20x3xf32>) -> tensor<4x5x3xf32>
  pipe.output %4 : tensor<4x5x3xf32>
}

// -----

pipe.graph @more(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  // expected-remark @+1 {{normalises over the batch}}
  %0 = pipe.log_softmax %x dim 0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{runs along the batch}}
  %1 = pipe.cumulative cumsum %x dim 0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{sorts the batch}}
  %2:2 = pipe.top_k %x k 4 dim 0 : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  // expected-remark @+1 {{reverses the batch}}
  %3 = pipe.reverse %x dims [0] : (tensor<4x3xf32>) -> tensor<4x3xf32>
  pipe.output %0, %1, %2#0, %3 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// x @ (x.T @ x), and x @ x.T @ x.
pipe.graph @products(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // expected-remark @+1 {{contracts the batch}}
  %0 = pipe.dot_general %x, %x contract [0] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %1 = pipe.dot_general %x, %0 contract [1] x [0] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{pairs every row of the batch with every other}}
  %2 = pipe.dot_general %x, %x contract [1] x [1] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{contracts the batch}}
  %3 = pipe.dot_general %2, %x contract [1] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  pipe.output %1, %3 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// Distances of every row to every other.
pipe.graph @distances(%x: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %0 = pipe.reshape %x to [4, 1, 3] : (tensor<4x3xf32>) -> tensor<4x1x3xf32>
  %1 = pipe.reshape %x to [1, 4, 3] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
  // expected-remark @+1 {{pairs every row of the batch with every other}}
  %2 = pipe.sub %0, %1 : (tensor<4x1x3xf32>, tensor<1x4x3xf32>) -> tensor<4x4x3xf32>
  %3 = pipe.abs %2 : (tensor<4x4x3xf32>) -> tensor<4x4x3xf32>
  %4 = pipe.reduce sum %3 dims [2] : (tensor<4x4x3xf32>) -> tensor<4x4xf32>
  pipe.output %4 : tensor<4x4xf32>
}

// -----

pipe.graph @norms(%x: tensor<4x3xf32>, %y: tensor<4x6x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x6x2xf32>) {
  // expected-remark @+1 {{takes statistics over the batch}}
  %0 = pipe.layer_norm %x axis 0 epsilon 1.0e-5 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{takes statistics over the batch}}
  %1 = pipe.rms_norm %x axis 0 epsilon 1.0e-5 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = pipe.transpose %y by [1, 0, 2] : (tensor<4x6x2xf32>) -> tensor<6x4x2xf32>
  // expected-remark @+1 {{takes statistics over the batch}}
  %3 = pipe.group_norm %2 groups 2 epsilon 1.0e-5 : (tensor<6x4x2xf32>) -> tensor<6x4x2xf32>
  %4 = pipe.transpose %3 by [1, 0, 2] : (tensor<6x4x2xf32>) -> tensor<4x6x2xf32>
  pipe.output %0, %1, %4 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x6x2xf32>
}

// -----

// The batch where attention expects positions.
pipe.graph @attention(%x: tensor<4x2x5x3xf32>) -> tensor<4x2x5x3xf32> {
  %0 = pipe.transpose %x by [2, 1, 0, 3] : (tensor<4x2x5x3xf32>) -> tensor<5x2x4x3xf32>
  // expected-remark @+1 {{attends over the batch}}
  %1 = pipe.attention %0, %0, %0 scale 1.0 : (tensor<5x2x4x3xf32>, tensor<5x2x4x3xf32>, tensor<5x2x4x3xf32>) -> tensor<5x2x4x3xf32>
  %2 = pipe.transpose %1 by [2, 1, 0, 3] : (tensor<5x2x4x3xf32>) -> tensor<4x2x5x3xf32>
  pipe.output %2 : tensor<4x2x5x3xf32>
}

// -----

// The largest of the batch joins by nothing that there is; the mean [4] of 4 rows would be taken for the batch.
pipe.graph @outputs(%x: tensor<4x4xf32>, %y: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-remark @+1 {{reduces over the batch}}
  %0 = pipe.reduce max %x dims [0] : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{reduces over the batch}}
  %1 = pipe.reduce mean %x dims [0] : (tensor<4x4xf32>) -> tensor<4xf32>
  pipe.output %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Each op that mixes is named, one behind the other too; the mean of a loss is not.
pipe.graph @several(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-remark @+1 {{reduces over the batch}}
  %0 = pipe.reduce mean %x dims [0] keep : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %1 = pipe.sub %x, %0 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  // expected-remark @+1 {{normalises over the batch}}
  %2 = pipe.softmax %1 dim 0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %3 = pipe.add %2, %1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  pipe.output %3 : tensor<4x3xf32>
}

// -----

// Rows at fixed positions, and windows that slide over rows.
pipe.graph @main(%x: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  // expected-remark @+1 {{takes rows at fixed positions}}
  %0 = pipe.slice %x [0, 0] to [1, 4] by [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %1 = pipe.sub %x, %0 : (tensor<6x4xf32>, tensor<1x4xf32>) -> tensor<6x4xf32>
  %2 = pipe.transpose %x by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %3 = pipe.reshape %2 to [1, 4, 6] : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
  // expected-remark @+1 {{slides a window along the batch}}
  %4 = pipe.avg_pool %3 window [3] strides [1] padding [1, 1] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %5 = pipe.reshape %4 to [4, 6] : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
  %6 = pipe.transpose %5 by [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  pipe.output %1, %6 : tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// Rows are followed through a scatter to slices: what comes behind is told.
pipe.graph @scattered(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %zero = pipe.constant dense<0.0> : tensor<3x4xf32>
  %at = pipe.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %0 = pipe.transpose %x by [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = pipe.scatter_nd set %zero, %at, %0 : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  // expected-remark @+1 {{normalises over the batch}}
  %2 = pipe.softmax %1 dim 1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = pipe.transpose %2 by [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  pipe.output %3 : tensor<4x3xf32>
}
