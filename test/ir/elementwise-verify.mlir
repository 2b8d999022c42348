// What elementwise ops refuse: types, shapes that do not broadcast, sizes.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.relu' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2xf32>'}}
  %0 = pipe.relu %a : (tensor<2xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.is_nan' op result #0 is declared as 'tensor<1xi1>', but operands and attributes make it 'tensor<2xi1>'}}
  %0 = pipe.is_nan %a : (tensor<2xf32>) -> tensor<1xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.is_inf' op result #0 is declared as 'tensor<1xi1>', but operands and attributes make it 'tensor<2xi1>'}}
  %0 = pipe.is_inf %a : (tensor<2xf32>) -> tensor<1xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi32>) {
  // expected-error @+1 {{'pipe.exp' op operand #0 must be statically shaped tensor of}}
  %0 = pipe.exp %a : (tensor<2xi32>) -> tensor<2xi32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi1>) {
  // expected-error @+1 {{'pipe.add' op operand #0 must be statically shaped tensor of}}
  %0 = pipe.add %a, %a : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{'pipe.add' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.add %a, %b : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.mul' op shapes [2, 3] and [2] do not broadcast}}
  %0 = pipe.mul %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x1xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.sub' op result #0 is declared as 'tensor<2x1xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.sub %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<0xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.add' op shapes [0] and [2] do not broadcast}}
  %0 = pipe.add %a, %b : (tensor<0xf32>, tensor<2xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi64>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'pipe.remainder' op element types must agree, got 'i64' and 'i32'}}
  %0 = pipe.remainder floor %a, %b : (tensor<2xi64>, tensor<2xi32>) -> tensor<2xi64>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.compare' op shapes [2] and [3] do not broadcast}}
  %0 = pipe.compare lt %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.compare' op result #0 must be statically shaped tensor of bool}}
  %0 = pipe.compare lt %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xi1>, %b: tensor<2xf32>, %c: tensor<2xf64>) {
  // expected-error @+1 {{'pipe.select' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.select %a, %b, %c : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<3xi1>, %b: tensor<2xf32>, %c: tensor<1xf32>) {
  // expected-error @+1 {{'pipe.select' op shapes [3] and [2] and [1] do not broadcast}}
  %0 = pipe.select %a, %b, %c : (tensor<3xi1>, tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.convert' op converts the element type only, got 'tensor<2xf32>' and 'tensor<3xi32>'}}
  %0 = pipe.convert %a : (tensor<2xf32>) -> tensor<3xi32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<4611686018427387904xi8>) {
  // expected-error @+1 {{'pipe.convert' op result 'tensor<4611686018427387904xf32>' exceeds 2^62 bytes}}
  %0 = pipe.convert %a : (tensor<4611686018427387904xi8>) -> tensor<4611686018427387904xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<4294967296x1xi8>, %b: tensor<4294967296xi8>) {
  // expected-error @+1 {{'pipe.add' op result of shape [4294967296, 4294967296] exceeds 2^62 bytes}}
  %0 = pipe.add %a, %b : (tensor<4294967296x1xi8>, tensor<4294967296xi8>) -> tensor<4294967296x4294967296xi8>
  pipe.output
}
