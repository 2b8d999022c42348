// What normalisations, softmax, attention and dropout refuse.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.softmax' op dim 2 is out of range for rank 2}}
  %0 = pipe.softmax %a dim 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.softmax' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.softmax %a dim 1 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.log_softmax' op dim 2 is out of range for rank 2}}
  %0 = pipe.log_softmax %a dim 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.log_softmax' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.log_softmax %a dim 1 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op axis 2 is out of range for rank 2}}
  %0 = pipe.layer_norm %a axis 2 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op axis -1 is out of range for rank 2}}
  %0 = pipe.layer_norm %a axis -1 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op epsilon must be finite and at least 0, got -1.000000e+00}}
  %0 = pipe.layer_norm %a axis 1 epsilon -1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op epsilon must be finite and at least 0, got nan}}
  %0 = pipe.layer_norm %a axis 1 epsilon 0x7FF8000000000000 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op scale must have shape [3], got [2]}}
  %0 = pipe.layer_norm %a scale %b axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf16>) {
  // expected-error @+1 {{'pipe.layer_norm' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.layer_norm %a scale %b axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.layer_norm %a axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op axis 2 is out of range for rank 2}}
  %0 = pipe.rms_norm %a axis 2 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op axis -1 is out of range for rank 2}}
  %0 = pipe.rms_norm %a axis -1 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op epsilon must be finite and at least 0, got -1.000000e+00}}
  %0 = pipe.rms_norm %a axis 1 epsilon -1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op epsilon must be finite and at least 0, got nan}}
  %0 = pipe.rms_norm %a axis 1 epsilon 0x7FF8000000000000 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op scale must have shape [3], got [2]}}
  %0 = pipe.rms_norm %a scale %b axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf16>) {
  // expected-error @+1 {{'pipe.rms_norm' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.rms_norm %a scale %b axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.rms_norm' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.rms_norm %a axis 1 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.layer_norm' op bias must have shape [2, 3], got [2]}}
  %0 = pipe.layer_norm %a bias %b axis 0 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op operand must have rank 2 or more, got 'tensor<3xf32>'}}
  %0 = pipe.group_norm %a groups 1 epsilon 1.0e-5 : (tensor<3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op epsilon must be finite and at least 0, got -1.000000e+00}}
  %0 = pipe.group_norm %a groups 1 epsilon -1.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op groups must be positive and divide the 3 channels, got 2}}
  %0 = pipe.group_norm %a groups 2 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op groups must be positive and divide the 3 channels, got 0}}
  %0 = pipe.group_norm %a groups 0 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op scale must have shape [3], got [2]}}
  %0 = pipe.group_norm %a scale %b groups 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op bias must have shape [3], got [2]}}
  %0 = pipe.group_norm %a bias %b groups 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf64>) {
  // expected-error @+1 {{'pipe.group_norm' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.group_norm %a bias %b groups 1 epsilon 1.0e-5 : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.group_norm' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.group_norm %a groups 3 epsilon 1.0e-5 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.batch_norm' op operand must have rank 2 or more, got 'tensor<3xf32>'}}
  %0 = pipe.batch_norm %a scale %a bias %a mean %a variance %a epsilon 0.0 : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.batch_norm' op epsilon must be finite and at least 0, got INF}}
  %0 = pipe.batch_norm %a scale %b bias %b mean %b variance %b epsilon 0x7FF0000000000000 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.batch_norm' op variance must have shape [3], got [2]}}
  %0 = pipe.batch_norm %a scale %b bias %b mean %b variance %c epsilon 0.0 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf64>) {
  // expected-error @+1 {{'pipe.batch_norm' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.batch_norm %a scale %b bias %b mean %c variance %b epsilon 0.0 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.batch_norm' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.batch_norm %a scale %b bias %b mean %b variance %b epsilon 0.0 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op query must have rank 4, got 'tensor<2x3x4xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x3x4xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x3x4xf32>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op key must have rank 4, got 'tensor<2x3x4xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x3x4xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'pipe.attention' op value must have rank 4, got 'tensor<2x3x4xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x3x4xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf16>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf16>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x7xf32>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op query and key must agree in batch and last dimension, got 'tensor<2x4x5x8xf32>' and 'tensor<2x2x6x7xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x7xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x7x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op key and value must agree in batch, heads and length, got 'tensor<2x2x6x8xf32>' and 'tensor<2x2x7x3xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x7x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x3x6x8xf32>, %c: tensor<2x3x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op the 4 query heads must be a multiple of the key heads, got 3}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x0x6x8xf32>, %c: tensor<2x0x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op the 4 query heads must be a multiple of the key heads, got 0}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x0x6x8xf32>, tensor<2x0x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op scale must be finite}}
  %0 = pipe.attention %a, %b, %c scale 0x7FF8000000000000 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>, %d: tensor<5x6xi32>) {
  // expected-error @+1 {{'pipe.attention' op mask must be of bool or 'f32', got 'tensor<5x6xi32>'}}
  %0 = pipe.attention %a, %b, %c mask %d scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<5x6xi32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>, %d: tensor<5x7xi1>) {
  // expected-error @+1 {{'pipe.attention' op mask must broadcast to [2, 4, 5, 6], got 'tensor<5x7xi1>'}}
  %0 = pipe.attention %a, %b, %c mask %d scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<5x7xi1>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>, %d: tensor<1x1x1x5x6xf32>) {
  // expected-error @+1 {{'pipe.attention' op mask must broadcast to [2, 4, 5, 6], got 'tensor<1x1x1x5x6xf32>'}}
  %0 = pipe.attention %a, %b, %c mask %d scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<1x1x1x5x6xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x6x8xf32>, %c: tensor<2x2x6x3xf32>) {
  // expected-error @+1 {{'pipe.attention' op result #0 is declared as 'tensor<2x4x5x8xf32>', but operands and attributes make it 'tensor<2x4x5x3xf32>'}}
  %0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x8xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.dropout' op ratio must be from 0 to 1, got 1.500000e+00}}
  %0 = pipe.dropout %a ratio 1.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.dropout' op ratio must be from 0 to 1, got nan}}
  %0 = pipe.dropout %a ratio 0x7FF8000000000000 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'pipe.dropout' op result #0 is declared as 'tensor<3xf32>', but operands and attributes make it 'tensor<2x3xf32>'}}
  %0 = pipe.dropout %a ratio 0.5 : (tensor<2x3xf32>) -> tensor<3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %k: tensor<4xi64>) {
  // expected-error @+1 {{'pipe.dropout' op key must have shape [3], got [4]}}
  %0 = pipe.dropout %a key %k ratio 0.5 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %k: tensor<3xf32>) {
  // expected-error @+1 {{'pipe.dropout' op operand #1 must be}}
  %0 = pipe.dropout %a key %k ratio 0.5 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %k: tensor<3xi64>) {
  // expected-error @+1 {{'pipe.dropout' op stream must be a 32-bit number, got -1}}
  %0 = pipe.dropout %a key %k ratio 0.5 {stream = -1 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3xf32>, %k: tensor<3xi64>) {
  // expected-error @+1 {{'pipe.dropout' op stream must be a 32-bit number, got 4294967296}}
  %0 = pipe.dropout %a key %k ratio 0.5 {stream = 4294967296 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  pipe.output
}
