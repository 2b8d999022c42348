// What the join of the outputs makes good, and what it does not.
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes=join=sum 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes=join=mean 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes=join=loss 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes 2>&1 | FileCheck %s --check-prefix=NONE

// NONE-NOT: remark

// SUM-NOT: remark
// SUM: remark: reduces over the batch
// SUM-NEXT: %mean =
// SUM-NOT: remark
// SUM: remark: reduces over the batch
// SUM-NEXT: %ms =
// SUM-NOT: remark

// MEAN-NOT: remark
// MEAN: remark: reduces over the batch
// MEAN-NEXT: %sum =
// MEAN-NOT: remark
// MEAN: remark: reduces over the batch
// MEAN-NEXT: %ms =
// MEAN-NOT: remark

// LOSS-NOT: remark
// LOSS: remark: reduces over the batch
// LOSS-NEXT: %ms =
// LOSS-NOT: remark

pipe.weight @w parameter : tensor<3x2xf32> from #pipe.source<"m", 0, 24>
pipe.graph @main(%x: tensor<4x3xf32>, %ids: tensor<4xi64>, %scale: tensor<f32> {pipe.whole})
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %w = pipe.load_weight @w : tensor<3x2xf32>
  %logits = pipe.dot_general %x, %w contract [1] x [0] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  // Scaled by a constant: fits either.
  %loss = pipe.cross_entropy %logits, %ids ignore -100 smoothing 0.0 : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<f32>
  %scaled = pipe.mul %loss, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %sum = pipe.reduce sum %logits dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>

  %mean = pipe.reduce mean %logits dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>

  // The root of a mean is no mean of roots.
  %square = pipe.mul %logits, %logits : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %ms = pipe.reduce mean %square dims [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
  %rms = pipe.sqrt %ms : (tensor<f32>) -> tensor<f32>

  // A mean over what counts: a sum over a sum.
  %keep = pipe.compare ne %ids, %ids : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %ones = pipe.convert %keep : (tensor<4xi1>) -> tensor<4xf32>
  %count = pipe.reduce sum %ones dims [0] : (tensor<4xf32>) -> tensor<f32>
  %least = pipe.constant dense<1.0> : tensor<f32>
  %guarded = pipe.maximum %count, %least : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %weighted = pipe.div %sum, %guarded : (tensor<f32>, tensor<f32>) -> tensor<f32>
  pipe.output %scaled, %sum, %mean, %rms, %weighted : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
