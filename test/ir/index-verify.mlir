// What gather, scatter and resize refuse. Index values are checked at run time.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.gather' op dim 2 is out of range for rank 2}}
  %0 = pipe.gather %a, %b dim 2 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<4xi8>) {
  // expected-error @+1 {{'pipe.gather' op operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = pipe.gather %a, %b dim 0 : (tensor<2x3xf32>, tensor<4xi8>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.gather' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<4x3xf32>'}}
  %0 = pipe.gather %a, %b dim 0 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x2xi64>) {
  // expected-error @+1 {{'pipe.gather_elements' op dim 5 is out of range for rank 2}}
  %0 = pipe.gather_elements %a, %b dim 5 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3x3xi64>) {
  // expected-error @+1 {{'pipe.gather_elements' op indices must have the operand's rank and at most its sizes outside dim 1, got 'tensor<3x3xi64>' for 'tensor<2x3xf32>'}}
  %0 = pipe.gather_elements %a, %b dim 1 : (tensor<2x3xf32>, tensor<3x3xi64>) -> tensor<3x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.gather_elements' op indices must have the operand's rank and at most its sizes outside dim 1, got 'tensor<4xi64>' for 'tensor<2x3xf32>'}}
  %0 = pipe.gather_elements %a, %b dim 1 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x2xi64>) {
  // expected-error @+1 {{'pipe.gather_elements' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<2x2xf32>'}}
  %0 = pipe.gather_elements %a, %b dim 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x1xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op batch_dims must be from 0 to 1, got 2}}
  %0 = pipe.gather_nd %a, %b {batch_dims = 2} : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2x1xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op batch_dims must be from 0 to 1, got -1}}
  %0 = pipe.gather_nd %a, %b {batch_dims = -1} : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3x1xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op operand and indices must agree in the first 1 dimensions, got 'tensor<2x3xf32>' and 'tensor<3x1xi64>'}}
  %0 = pipe.gather_nd %a, %b {batch_dims = 1} : (tensor<2x3xf32>, tensor<3x1xi64>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<i64>) {
  // expected-error @+1 {{'pipe.gather_nd' op indices must have at least one dimension}}
  %0 = pipe.gather_nd %a, %b : (tensor<2x3xf32>, tensor<i64>) -> tensor<f32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x3xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op last dimension of the indices must be from 1 to 2 for 'tensor<2x3xf32>', got 3}}
  %0 = pipe.gather_nd %a, %b : (tensor<2x3xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x0xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op last dimension of the indices must be from 1 to 2 for 'tensor<2x3xf32>', got 0}}
  %0 = pipe.gather_nd %a, %b : (tensor<2x3xf32>, tensor<5x0xi64>) -> tensor<5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x1xi64>) {
  // expected-error @+1 {{'pipe.gather_nd' op result #0 is declared as 'tensor<5xf32>', but operands and attributes make it 'tensor<5x3xf32>'}}
  %0 = pipe.gather_nd %a, %b : (tensor<2x3xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1x1xi64>, %c: tensor<1x1xf16>) {
  // expected-error @+1 {{'pipe.scatter_elements' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.scatter_elements set %a, %b, %c dim 0 : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x1xf16>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi1>, %b: tensor<1xi64>, %c: tensor<1xi1>) {
  // expected-error @+1 {{'pipe.scatter_elements' op scatters bool by set, max or min only, got add}}
  %0 = pipe.scatter_elements add %a, %b, %c dim 0 : (tensor<2xi1>, tensor<1xi64>, tensor<1xi1>) -> tensor<2xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1x1xi64>, %c: tensor<1x1xf32>) {
  // expected-error @+1 {{'pipe.scatter_elements' op dim -1 is out of range for rank 2}}
  %0 = pipe.scatter_elements set %a, %b, %c dim -1 : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x1xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1x4xi64>, %c: tensor<1x4xf32>) {
  // expected-error @+1 {{'pipe.scatter_elements' op indices must have the operand's rank and at most its sizes outside dim 0, got 'tensor<1x4xi64>' for 'tensor<2x3xf32>'}}
  %0 = pipe.scatter_elements set %a, %b, %c dim 0 : (tensor<2x3xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1x1xi64>, %c: tensor<1x2xf32>) {
  // expected-error @+1 {{'pipe.scatter_elements' op updates must have shape [1, 1], got [1, 2]}}
  %0 = pipe.scatter_elements mul %a, %b, %c dim 0 : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<1x1xi64>, %c: tensor<1x1xf32>) {
  // expected-error @+1 {{'pipe.scatter_elements' op result #0 is declared as 'tensor<1x1xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.scatter_elements max %a, %b, %c dim 0 : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x1xf32>) -> tensor<1x1xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x1xi64>, %c: tensor<5xf32>) {
  // expected-error @+1 {{'pipe.scatter_nd' op updates must have shape [5, 3], got [5]}}
  %0 = pipe.scatter_nd set %a, %b, %c : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<5xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x3xi64>, %c: tensor<5xf32>) {
  // expected-error @+1 {{'pipe.scatter_nd' op last dimension of the indices must be from 1 to 2 for 'tensor<2x3xf32>', got 3}}
  %0 = pipe.scatter_nd set %a, %b, %c : (tensor<2x3xf32>, tensor<5x3xi64>, tensor<5xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi1>, %b: tensor<1x1xi64>, %c: tensor<1xi1>) {
  // expected-error @+1 {{'pipe.scatter_nd' op scatters bool by set, max or min only, got mul}}
  %0 = pipe.scatter_nd mul %a, %b, %c : (tensor<2xi1>, tensor<1x1xi64>, tensor<1xi1>) -> tensor<2xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x1xi64>, %c: tensor<5x3xf16>) {
  // expected-error @+1 {{'pipe.scatter_nd' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.scatter_nd set %a, %b, %c : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<5x3xf16>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<i64>, %c: tensor<5x3xf32>) {
  // expected-error @+1 {{'pipe.scatter_nd' op indices must have at least one dimension}}
  %0 = pipe.scatter_nd set %a, %b, %c : (tensor<2x3xf32>, tensor<i64>, tensor<5x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<5x1xi64>, %c: tensor<5x3xf32>) {
  // expected-error @+1 {{'pipe.scatter_nd' op result #0 is declared as 'tensor<5x3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.scatter_nd min %a, %b, %c : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<5x3xf32>) -> tensor<5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op shape must have 2 entries, got [4]}}
  %0 = pipe.resize linear %a to [4] scales [1.0, 2.0] : (tensor<2x3xf32>) -> tensor<4xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op shape must be at least 0, got [2, -6]}}
  %0 = pipe.resize linear %a to [2, -6] scales [1.0, 2.0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op scales must have 2 entries, got 1}}
  %0 = pipe.resize linear %a to [2, 6] scales [2.0] : (tensor<2x3xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op scales must be finite and positive, got 0.000000e+00 for dim 0}}
  %0 = pipe.resize nearest %a to [2, 6] scales [0.0, 2.0] : (tensor<2x3xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op scales must be finite and positive, got INF for dim 1}}
  %0 = pipe.resize nearest %a to [2, 6] scales [1.0, 0x7FF0000000000000] : (tensor<2x3xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<0x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op has nothing to sample: dim 0 of [0, 3] is empty}}
  %0 = pipe.resize nearest %a to [2, 6] scales [1.0, 2.0] : (tensor<0x3xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op cubic_coeff must be finite}}
  %0 = pipe.resize cubic %a to [2, 6] scales [1.0, 2.0] {cubic_coeff = 0x7FF8000000000000 : f64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.resize' op result #0 is declared as 'tensor<2x3xf32>', but operands and attributes make it 'tensor<2x6xf32>'}}
  %0 = pipe.resize cubic %a to [2, 6] scales [1.0, 2.0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @padding(%a: tensor<2x3xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.gather' op padding_index 2 is out of range for dim 0 of size 2}}
  %0 = pipe.gather %a, %b dim 0 {padding_index = 2 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  pipe.output
}

// -----

pipe.graph @negative_padding(%a: tensor<2x3xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.gather' op padding_index -1 is out of range for dim 0 of size 2}}
  %0 = pipe.gather %a, %b dim 0 {padding_index = -1 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  pipe.output
}
