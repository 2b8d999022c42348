// What literals and data movement refuse.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reshape' op cannot make shape [5] of 'tensor<2x3xf32>': the numbers of elements differ}}
  %0 = pipe.reshape %a to [5] : (tensor<2x3xf32>) -> tensor<5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reshape' op shape must be at least 0, got [-1, 6]}}
  %0 = pipe.reshape %a to [-1, 6] : (tensor<2x3xf32>) -> tensor<6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<0xi8>) {
  // expected-error @+1 {{'pipe.reshape' op cannot make shape [4294967296, 4294967296] of 'tensor<0xi8>': the numbers of elements differ}}
  %0 = pipe.reshape %a to [4294967296, 4294967296] : (tensor<0xi8>) -> tensor<0xi8>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<0xi8>) {
  // expected-error @+1 {{'pipe.reshape' op result of shape [0, 4294967296, 2147483648] exceeds 2^62 bytes}}
  %0 = pipe.reshape %a to [0, 4294967296, 2147483648] : (tensor<0xi8>) -> tensor<0xi8>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reshape' op result #0 is declared as 'tensor<3x2xf32>', but operands and attributes make it 'tensor<6xf32>'}}
  %0 = pipe.reshape %a to [6] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.transpose' op permutation must have 2 entries, got [0]}}
  %0 = pipe.transpose %a by [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.transpose' op dim 2 is out of range for rank 2}}
  %0 = pipe.transpose %a by [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.transpose' op permutation names dim 1 twice: [1, 1]}}
  %0 = pipe.transpose %a by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.transpose' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<3x2xf32>'}}
  %0 = pipe.transpose %a by [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.broadcast' op cannot stretch 'tensor<2x3xf32>' to shape [3]}}
  %0 = pipe.broadcast %a to [3] : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.broadcast' op cannot stretch 'tensor<2x3xf32>' to shape [4, 3]}}
  %0 = pipe.broadcast %a to [4, 3] : (tensor<2x3xf32>) -> tensor<4x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.broadcast' op shape must be at least 0, got [-2, 3]}}
  %0 = pipe.broadcast %a to [-2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1xf32>) {
  // expected-error @+1 {{'pipe.broadcast' op result of shape [4611686018427387904] exceeds 2^62 bytes}}
  %0 = pipe.broadcast %a to [4611686018427387904] : (tensor<1xf32>) -> tensor<4611686018427387904xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.broadcast' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<1x2x3xf32>'}}
  %0 = pipe.broadcast %a to [1, 2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op starts must have 2 entries, got [0]}}
  %0 = pipe.slice %a [0] to [2, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op limits must have 2 entries, got [2]}}
  %0 = pipe.slice %a [0, 0] to [2] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op strides must have 2 entries, got []}}
  %0 = pipe.slice %a [0, 0] to [2, 3] by [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op strides must be at least 1, got [1, 0]}}
  %0 = pipe.slice %a [0, 0] to [2, 3] by [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op needs 0 <= start <= limit <= size in dim 1, got start 0, limit 4, size 3}}
  %0 = pipe.slice %a [0, 0] to [2, 4] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op needs 0 <= start <= limit <= size in dim 0, got start 2, limit 1, size 2}}
  %0 = pipe.slice %a [2, 0] to [1, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op needs 0 <= start <= limit <= size in dim 0, got start -1, limit 1, size 2}}
  %0 = pipe.slice %a [-1, 0] to [1, 3] by [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.slice' op result #0 is declared as 'tensor<2x1xf32>', but operands and attributes make it 'tensor<2x2xf32>'}}
  %0 = pipe.slice %a [0, 0] to [2, 3] by [1, 2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reverse' op dim 2 is out of range for rank 2}}
  %0 = pipe.reverse %a dims [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reverse' op dims must be distinct and ascending, got [1, 0]}}
  %0 = pipe.reverse %a dims [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.reverse' op result #0 is declared as 'tensor<3x2xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.reverse %a dims [0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1xf32>) {
  // expected-error @+1 {{'pipe.pad' op value must have rank 0, got 'tensor<1xf32>'}}
  %0 = pipe.pad constant %a, %b low [0, 0] high [0, 0] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f64>) {
  // expected-error @+1 {{'pipe.pad' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.pad constant %a, %b low [0, 0] high [0, 0] : (tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op low must have 2 entries, got [0]}}
  %0 = pipe.pad constant %a, %b low [0] high [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op high must have 2 entries, got [0, 0, 0]}}
  %0 = pipe.pad constant %a, %b low [0, 0] high [0, 0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op crops more than the size 2 of dim 0: low -1, high -2}}
  %0 = pipe.pad constant %a, %b low [-1, 0] high [-2, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op crops more than the size 2 of dim 0: low -3, high 5}}
  %0 = pipe.pad constant %a, %b low [-3, 0] high [5, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op crops in mode constant only, got low 0, high -1 in dim 1}}
  %0 = pipe.pad edge %a, %b low [0, 0] high [0, -1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op reflects at most 1 elements in dim 0 of size 2, got 2}}
  %0 = pipe.pad reflect %a, %b low [2, 0] high [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<0xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op has nothing to pad dim 0 with: it is empty}}
  %0 = pipe.pad wrap %a, %b low [1] high [0] : (tensor<0xf32>, tensor<f32>) -> tensor<1xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op padding overflows in dim 0}}
  %0 = pipe.pad constant %a, %b low [9223372036854775807, 0] high [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'pipe.pad' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<5x3xf32>'}}
  %0 = pipe.pad constant %a, %b low [1, 0] high [2, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.concat' op dim 3 is out of range for rank 2}}
  %0 = pipe.concat %a dim 3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.concat' op needs at least one input}}
  %0 = "pipe.concat"() {dim = 0 : i64} : () -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x3xf16>) {
  // expected-error @+1 {{'pipe.concat' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.concat %a, %b dim 0 : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'pipe.concat' op inputs must agree outside dim 0, got 'tensor<2x3xf32>' and 'tensor<2x4xf32>'}}
  %0 = pipe.concat %a, %b dim 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.concat' op inputs must agree outside dim 0, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %0 = pipe.concat %a, %b dim 0 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<4611686018427387904xi8>, %b: tensor<4611686018427387904xi8>) {
  // expected-error @+1 {{'pipe.concat' op size overflows in dim 0}}
  %0 = pipe.concat %a, %b dim 0 : (tensor<4611686018427387904xi8>, tensor<4611686018427387904xi8>) -> tensor<4611686018427387904xi8>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.concat' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<4x3xf32>'}}
  %0 = pipe.concat %a, %b dim 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.constant' op literals have at most 16 elements or are splats, got 17 elements; declare a weight of kind constant instead}}
  %0 = pipe.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<17xi64>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.constant' op value must be dense, got sparse}}
  %0 = pipe.constant sparse<[[0]], [1]> : tensor<2xi64>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.constant' op result 'tensor<4611686018427387904xi32>' exceeds 2^62 bytes}}
  %0 = pipe.constant dense<0> : tensor<4611686018427387904xi32>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.constant' op result #0 must be statically shaped tensor of}}
  %0 = pipe.constant dense<0> : tensor<2xi5>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.iota' op dim 1 is out of range for rank 1}}
  %0 = pipe.iota dim 1 : tensor<4xi64>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.iota' op dim -1 is out of range for rank 1}}
  %0 = pipe.iota dim -1 : tensor<4xi64>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.iota' op result 'tensor<4611686018427387904xi64>' exceeds 2^62 bytes}}
  %0 = pipe.iota dim 0 : tensor<4611686018427387904xi64>
  pipe.output
}

// -----

pipe.graph @case() {
  // expected-error @+1 {{'pipe.iota' op result #0 must be statically shaped tensor of}}
  %0 = pipe.iota dim 0 : tensor<4xi1>
  pipe.output
}
