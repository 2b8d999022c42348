// What losses and derivatives that are ops refuse.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<f32>, %l: tensor<i64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op logits must have a last dimension, the classes, got 'tensor<f32>'}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0.0 : (tensor<f32>, tensor<i64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<3xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op labels must have shape [2], got [3]}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op label_smoothing must be from 0 to 1, got 1.500000e+00}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 1.5 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op label_smoothing must be from 0 to 1, got -5.000000e-01}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing -0.5 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op label_smoothing must be from 0 to 1, got nan}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0x7FF8000000000000 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xui8>) {
  // expected-error @+1 {{'pipe.cross_entropy' op operand #1 must be}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2xui8>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xi32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op operand #0 must be}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0.0 : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{'pipe.cross_entropy' op result #0 is declared as 'tensor<2xf32>', but operands and attributes make it 'tensor<f32>'}}
  %0 = pipe.cross_entropy %a, %l ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<f32>, %l: tensor<i64>, %g: tensor<f32>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op logits must have a last dimension, the classes, got 'tensor<f32>'}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 0.0 : (tensor<f32>, tensor<i64>, tensor<f32>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2x1xi64>, %g: tensor<f32>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op labels must have shape [2], got [2, 1]}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>, %g: tensor<f32>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op label_smoothing must be from 0 to 1, got 2.000000e+00}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 2.0 : (tensor<2x3xf32>, tensor<2xi64>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op grad must have shape [], got [2]}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>, %g: tensor<f64>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2xi64>, tensor<f64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %l: tensor<2xi64>, %g: tensor<f32>) {
  // expected-error @+1 {{'pipe.cross_entropy_grad' op result #0 is declared as 'tensor<f32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.cross_entropy_grad %a, %l, %g ignore 0 smoothing 0.0 : (tensor<2x3xf32>, tensor<2xi64>, tensor<f32>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf64>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf64>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op the pool's input must have rank 3 to 5, got [4, 8]}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, 0] dilations [1] : (tensor<4x8xf32>, tensor<1x4x6xf32>) -> tensor<4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op window must have 1 entries, got [3, 3]}}
  %0 = pipe.max_pool_grad %x, %g window [3, 3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op strides must be at least 1, got [0]}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [0] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op padding must be at least 0, got [0, -1]}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, -1] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op padding must be less than the window of 3 in spatial dimension 0, got 3}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, 3] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op window of 9 is larger than the padded input of 8 in spatial dimension 0}}
  %0 = pipe.max_pool_grad %x, %g window [9] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x5xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op grad must have shape [1, 4, 6], got [1, 4, 5]}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x5xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x3xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op grad must have shape [1, 4, 4], got [1, 4, 3]}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>, tensor<1x4x3xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<1x4x8xf32>, %g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.max_pool_grad' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x8xf32>'}}
  %0 = pipe.max_pool_grad %x, %g window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op the pool's input must have rank 3 to 5, got [4, 8]}}
  %0 = pipe.avg_pool_grad %g to [4, 8] window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op shape must be at least 0, got [1, 4, -8]}}
  %0 = pipe.avg_pool_grad %g to [1, 4, -8] window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op dilations must be at least 1, got [0]}}
  %0 = pipe.avg_pool_grad %g to [1, 4, 8] window [3] strides [1] padding [0, 0] dilations [0] : (tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op padding must be less than the window of 3 in spatial dimension 0, got 4}}
  %0 = pipe.avg_pool_grad %g to [1, 4, 8] window [3] strides [1] padding [4, 0] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op grad must have shape [1, 4, 5], got [1, 4, 6]}}
  %0 = pipe.avg_pool_grad %g to [1, 4, 7] window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'pipe.avg_pool_grad' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x8xf32>'}}
  %0 = pipe.avg_pool_grad %g to [1, 4, 8] window [3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op shape must have 2 entries, got [3]}}
  %0 = pipe.resize_grad linear %g to [3] scales [1.0, 2.0] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op shape must be at least 0, got [2, -3]}}
  %0 = pipe.resize_grad linear %g to [2, -3] scales [1.0, 2.0] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op scales must have 2 entries, got 1}}
  %0 = pipe.resize_grad linear %g to [2, 3] scales [2.0] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op scales must be finite and positive, got 0.000000e+00 for dim 1}}
  %0 = pipe.resize_grad linear %g to [2, 3] scales [1.0, 0.0] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op has nothing to sample: dim 1 of [2, 0] is empty}}
  %0 = pipe.resize_grad linear %g to [2, 0] scales [1.0, 2.0] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op cubic_coeff must be finite}}
  %0 = pipe.resize_grad linear %g to [2, 3] scales [1.0, 2.0] {cubic_coeff = 0x7FF0000000000000 : f64} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x6xf32>) {
  // expected-error @+1 {{'pipe.resize_grad' op result #0 is declared as 'tensor<2x6xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.resize_grad linear %g to [2, 3] scales [1.0, 2.0] : (tensor<2x6xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x3xf32>, %s: tensor<3xf64>) {
  // expected-error @+1 {{'pipe.chain' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.chain mul %g, %s : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'pipe.chain' op shapes [2, 3] and [4] do not broadcast}}
  %0 = pipe.chain div %g, %s : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%g: tensor<2x3xi32>) {
  // expected-error @+1 {{'pipe.chain' op operand #0 must be}}
  %0 = pipe.chain mul %g, %g : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{'pipe.stop_gradient' op operand #0 must be}}
  %0 = pipe.stop_gradient %x : (tensor<2x3xi32>) -> tensor<2x3xi32>
  pipe.output
}

// -----

pipe.graph @case(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.stop_gradient' op result #0 is declared as 'tensor<6xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.stop_gradient %x : (tensor<2x3xf32>) -> tensor<6xf32>
  pipe.output
}
