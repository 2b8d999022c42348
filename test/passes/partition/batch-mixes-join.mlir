// What the join of the outputs makes good, and what it does not.
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes=join=sum 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes=join=mean 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: pipec-opt %s -pipe-partition-find-batch-mixes 2>&1 | FileCheck %s --check-prefix=NONE

// NONE-NOT: remark

// SUM-NOT: remark
// SUM: remark: averages over the batch, where microbatches are summed
// SUM-NEXT: %mean =
// SUM-NOT: remark
// SUM: remark: reduces over the batch
// SUM-NEXT: %ms =
// SUM-NOT: remark

// MEAN-NOT: remark
// MEAN: remark: sums over the batch, where microbatches are averaged
// MEAN-NEXT: %loss =
// MEAN-NOT: remark
// MEAN: remark: sums over the batch, where microbatches are averaged
// MEAN-NEXT: %sum =
// MEAN-NOT: remark
// MEAN: remark: reduces over the batch
// MEAN-NEXT: %ms =
// MEAN-NOT: remark

pipe.weight @w parameter : tensor<3x2xf32> from #pipe.source<"m", 0, 24>
pipe.graph @main(%x: tensor<4x3xf32>, %ids: tensor<4xi64>, %scale: tensor<f32> {pipe.whole, pipe.role = "loss_scale"})
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %w = pipe.load_weight @w : tensor<3x2xf32>
  %logits = pipe.dot_general %x, %w contract [1] x [0] : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %loss = pipe.cross_entropy %logits, %ids ignore -100 smoothing 0.0 : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<f32>
  %scaled = pipe.mul %loss, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // Times a constant, which may be one over the rows: fits either.
  %part = pipe.constant dense<0.25> : tensor<f32>
  %divided = pipe.mul %loss, %part : (tensor<f32>, tensor<f32>) -> tensor<f32>
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
  // The same, each row divided by itself.
  %perRow = pipe.reduce sum %logits dims [1] : (tensor<4x2xf32>) -> tensor<4xf32>
  %share = pipe.div %perRow, %guarded : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %shares = pipe.reduce sum %share dims [0] : (tensor<4xf32>) -> tensor<f32>

  // A mean beside what is mixed is not at fault.
  %both = pipe.add %mean, %rms : (tensor<f32>, tensor<f32>) -> tensor<f32>
  pipe.output %shares, %scaled, %divided, %both, %sum, %mean, %rms, %weighted : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
