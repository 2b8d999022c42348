// Statistics that are a parameter are refused: a package would move what is no buffer. A constant stays.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics -pipe-import-batch-norm-training

pipe.weight @scale parameter : tensor<3xf32> from #pipe.source<"m", 0, 12>
pipe.weight @mean parameter : tensor<3xf32> from #pipe.source<"m", 12, 12>

pipe.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {pipe.name = "y"}) {
  %s = pipe.load_weight @scale : tensor<3xf32>
  %m = pipe.load_weight @mean : tensor<3xf32>
  // expected-error @+1 {{the running statistics of a BatchNorm are the parameter 'mean', which the optimizer moves, not the batches: keep them with --batch-norm frozen, or export with optimize=False}}
  %0 = pipe.batch_norm %x scale %s bias %s mean %m variance %m epsilon 1.25e-1 {momentum = 7.500000e-01 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %0 : tensor<2x3xf32>
}

// -----

pipe.weight @scale parameter : tensor<3xf32> from #pipe.source<"m", 0, 12>
pipe.weight @mean constant : tensor<3xf32> from #pipe.source<"m", 12, 12>

pipe.graph @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {pipe.name = "y"}) {
  %s = pipe.load_weight @scale : tensor<3xf32>
  %m = pipe.load_weight @mean : tensor<3xf32>
  %0 = pipe.batch_norm %x scale %s bias %s mean %m variance %m epsilon 1.25e-1 {momentum = 7.500000e-01 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output %0 : tensor<2x3xf32>
}
