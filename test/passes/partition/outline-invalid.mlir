// What outlining refuses.
// RUN: pipec-opt %s --split-input-file --verify-diagnostics --pipe-partition-outline

pipe.graph @unassigned(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no stage index; run pipe-partition-annotate first}}
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}

// -----

pipe.graph @backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{made here; move the cut behind it}}
  %0 = pipe.relu %x {pipe.stage_index = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{in stage 0 reads a value that stage 1 makes; data cannot flow to an earlier stage}}
  %1 = pipe.tanh %0 {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{stage 1 would hold no operation}}
pipe.graph @gap(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.tanh %0 {pipe.stage_index = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}
