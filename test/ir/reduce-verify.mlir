// What reductions, cumulative ops and selections of extremes refuse.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op dim 2 is out of range for rank 2}}
  %0 = pipe.reduce sum %a dims [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op dim -1 is out of range for rank 2}}
  %0 = pipe.reduce max %a dims [-1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op dims must be distinct and ascending, got [1, 0]}}
  %0 = pipe.reduce mean %a dims [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op dims must be distinct and ascending, got [1, 1]}}
  %0 = pipe.reduce prod %a dims [1, 1] : (tensor<2x3xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op result #0 is declared as 'tensor<2xf32>', but operands and attributes make it 'tensor<2x1xf32>'}}
  %0 = pipe.reduce min %a dims [1] keep : (tensor<2x3xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi1>) {
  // expected-error @+1 {{'pipe.reduce' op reduces bool by max or min only, got sum}}
  %0 = pipe.reduce sum %a dims [0] : (tensor<2xi1>) -> tensor<i1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.arg_reduce' op dim 2 is out of range for rank 2}}
  %0 = pipe.arg_reduce argmax %a dim 2 : (tensor<2x3xf32>) -> tensor<2xi64>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x0xf32>) {
  // expected-error @+1 {{'pipe.arg_reduce' op has nothing to select from: dim 1 of 'tensor<2x0xf32>' is empty}}
  %0 = pipe.arg_reduce argmin %a dim 1 : (tensor<2x0xf32>) -> tensor<2xi64>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.arg_reduce' op result #0 is declared as 'tensor<3xi64>', but operands and attributes make it 'tensor<2xi64>'}}
  %0 = pipe.arg_reduce argmin %a dim 1 : (tensor<2x3xf32>) -> tensor<3xi64>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.arg_reduce' op result #0 must be statically shaped tensor of 64-bit signless integer values}}
  %0 = pipe.arg_reduce argmin %a dim 1 : (tensor<2x3xf32>) -> tensor<2xi32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.cumulative' op dim 0 is out of range for rank 0}}
  %0 = pipe.cumulative cumsum %a dim 0 : (tensor<f32>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.cumulative' op result #0 is declared as 'tensor<2xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.cumulative cumprod %a dim 0 : (tensor<2x3xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.top_k' op dim 3 is out of range for rank 2}}
  %0:2 = pipe.top_k %a k 1 dim 3 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.top_k' op k must be from 0 to 3, the size of dim 1, got 4}}
  %0:2 = pipe.top_k %a k 4 dim 1 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.top_k' op k must be from 0 to 3, the size of dim 1, got -1}}
  %0:2 = pipe.top_k %a k -1 dim 1 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.top_k' op result #1 is declared as 'tensor<2x3xi64>', but operands and attributes make it 'tensor<2x1xi64>'}}
  %0:2 = pipe.top_k %a k 1 dim 1 : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x3xi64>)
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op select_first is of max and min along one dimension, got sum along [1]}}
  %0 = pipe.reduce sum %a dims [1] {select_first} : (tensor<2x3xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reduce' op select_first is of max and min along one dimension, got max along [0, 1]}}
  %0 = pipe.reduce max %a dims [0, 1] {select_first} : (tensor<2x3xf32>) -> tensor<f32>
  pipe.output
}
