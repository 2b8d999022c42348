// What matrix products, convolutions and pools refuse; the last pools state the sizes of ceil_mode.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf16>) {
  // expected-error @+1 {{'pipe.dot_general' op element types must agree, got 'f32' and 'f16'}}
  %0 = pipe.dot_general %a, %b batch [0] x [0] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf16>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op rhs_batch must have 1 entries, got [0, 1]}}
  %0 = pipe.dot_general %a, %b batch [0] x [0, 1] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op rhs_contract must have 1 entries, got []}}
  %0 = pipe.dot_general %a, %b contract [2] x [] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op dim 3 is out of range for rank 3}}
  %0 = pipe.dot_general %a, %b contract [3] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op lhs dim 2 is named twice}}
  %0 = pipe.dot_general %a, %b batch [2] x [0] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op rhs dim 1 is named twice}}
  %0 = pipe.dot_general %a, %b contract [2, 1] x [1, 1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op batch dim 1 of lhs has size 3, dim 0 of rhs has size 2}}
  %0 = pipe.dot_general %a, %b batch [1] x [0] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op contracted dim 2 of lhs has size 4, dim 2 of rhs has size 5}}
  %0 = pipe.dot_general %a, %b contract [2] x [2] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'pipe.dot_general' op result #0 is declared as 'tensor<2x3x4xf32>', but operands and attributes make it 'tensor<2x3x5xf32>'}}
  %0 = pipe.dot_general %a, %b batch [0] x [0] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op input must have rank 3 to 5, got 'tensor<1x4xf32>'}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] : (tensor<1x4xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4xf32>) {
  // expected-error @+1 {{'pipe.convolution' op weight must have rank 3, got 'tensor<6x4xf32>'}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf64>) {
  // expected-error @+1 {{'pipe.convolution' op element types must agree, got 'f32' and 'f64'}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf64>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op groups must be at least 1, got 0}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] {groups = 0} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op groups must divide the 4 input channels, got 3}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] {groups = 3} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x3x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op weight must have 4 input channels a group, got 3}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x3x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<5x2x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op groups must divide the 5 output channels, got 2}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] {groups = 2} : (tensor<1x4x8xf32>, tensor<5x2x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op strides must have 1 entries, got [1, 1]}}
  %0 = pipe.convolution %a, %b strides [1, 1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op padding must have 2 entries, got [0]}}
  %0 = pipe.convolution %a, %b strides [1] padding [0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op dilations must have 1 entries, got []}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op strides must be at least 1, got [0]}}
  %0 = pipe.convolution %a, %b strides [0] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op dilations must be at least 1, got [0]}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [0] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x0xf32>) {
  // expected-error @+1 {{'pipe.convolution' op window must be at least 1, got [0]}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x0xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op window of 9 is larger than the padded input of 8 in spatial dimension 0}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [4] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op window of 3 is larger than the padded input of 2 in spatial dimension 0}}
  %0 = pipe.convolution %a, %b strides [1] padding [-3, -3] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op window, dilation and padding overflow in spatial dimension 0}}
  %0 = pipe.convolution %a, %b strides [1] padding [0, 0] dilations [9223372036854775807] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op window, dilation and padding overflow in spatial dimension 0}}
  %0 = pipe.convolution %a, %b strides [1] padding [9223372036854775807, 1] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.convolution' op result #0 is declared as 'tensor<1x6x6xf32>', but operands and attributes make it 'tensor<1x6x4xf32>'}}
  %0 = pipe.convolution %a, %b strides [2] padding [1, 0] dilations [1] : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op input must have rank 3 to 5, got 'tensor<1x4xf32>'}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4xf32>, tensor<6x4x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op weight must have rank 3, got 'tensor<4x6xf32>'}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<4x6xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op groups must divide the 4 input channels, got 3}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] {groups = 3} : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<5x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op weight must have 4 input channels, got 5}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<5x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op strides must be at least 1, got [-1]}}
  %0 = pipe.conv_transpose %a, %b strides [-1] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op output_padding must have 1 entries, got [0, 0]}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0, 0] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op output_padding must be at least 0, got [-1]}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [-1] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op size overflows in spatial dimension 0}}
  %0 = pipe.conv_transpose %a, %b strides [9223372036854775807] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op result size is negative in spatial dimension 0: -2}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [6, 6] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>, %b: tensor<4x6x3xf32>) {
  // expected-error @+1 {{'pipe.conv_transpose' op result #0 is declared as 'tensor<1x6x10xf32>', but operands and attributes make it 'tensor<1x6x18xf32>'}}
  %0 = pipe.conv_transpose %a, %b strides [2] padding [0, 0] dilations [1] output_padding [1] : (tensor<1x4x8xf32>, tensor<4x6x3xf32>) -> tensor<1x6x10xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x0x1xf16>, %b: tensor<0x1152921504606846976x1xf16>) {
  // expected-error @+1 {{'pipe.conv_transpose' op number of output channels overflows}}
  %0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] {groups = 1024} : (tensor<1x0x1xf16>, tensor<0x1152921504606846976x1xf16>) -> tensor<1x0x1xf16>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op input must have rank 3 to 5, got 'tensor<4x8xf32>'}}
  %0 = pipe.max_pool %a window [3] strides [1] padding [0, 0] dilations [1] : (tensor<4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op window must have 1 entries, got [3, 3]}}
  %0 = pipe.max_pool %a window [3, 3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op window must be at least 1, got [0]}}
  %0 = pipe.max_pool %a window [0] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op strides must be at least 1, got [0]}}
  %0 = pipe.max_pool %a window [3] strides [0] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op padding must be at least 0, got [0, -1]}}
  %0 = pipe.max_pool %a window [3] strides [1] padding [0, -1] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op padding must be less than the window of 3 in spatial dimension 0, got 3}}
  %0 = pipe.max_pool %a window [3] strides [1] padding [0, 3] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op window of 9 is larger than the padded input of 8 in spatial dimension 0}}
  %0 = pipe.max_pool %a window [9] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x3xf32>'}}
  %0 = pipe.max_pool %a window [3] strides [2] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x4xf32>'}}
  %0 = pipe.max_pool %a window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.max_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x3xf32>'}}
  %0 = pipe.max_pool %a window [2] strides [3] padding [1, 1] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op input must have rank 3 to 5, got 'tensor<4x8xf32>'}}
  %0 = pipe.avg_pool %a window [3] strides [1] padding [0, 0] dilations [1] : (tensor<4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op window must have 1 entries, got [3, 3]}}
  %0 = pipe.avg_pool %a window [3, 3] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op window must be at least 1, got [0]}}
  %0 = pipe.avg_pool %a window [0] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op strides must be at least 1, got [0]}}
  %0 = pipe.avg_pool %a window [3] strides [0] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op padding must be at least 0, got [0, -1]}}
  %0 = pipe.avg_pool %a window [3] strides [1] padding [0, -1] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op padding must be less than the window of 3 in spatial dimension 0, got 3}}
  %0 = pipe.avg_pool %a window [3] strides [1] padding [0, 3] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op window of 9 is larger than the padded input of 8 in spatial dimension 0}}
  %0 = pipe.avg_pool %a window [9] strides [1] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x3xf32>'}}
  %0 = pipe.avg_pool %a window [3] strides [2] padding [0, 0] dilations [1] : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x4xf32>'}}
  %0 = pipe.avg_pool %a window [3] strides [2] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

pipe.graph @case(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'pipe.avg_pool' op result #0 is declared as 'tensor<1x4x6xf32>', but operands and attributes make it 'tensor<1x4x3xf32>'}}
  %0 = pipe.avg_pool %a window [2] strides [3] padding [1, 1] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x6xf32>
  pipe.output
}

// -----

// With ceil_mode a window may miss less than a stride of its size.
pipe.graph @case(%a: tensor<1x4x8xf32>) {
  %0 = pipe.avg_pool %a window [11] strides [4] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  %1 = pipe.max_pool %a window [5] strides [2] padding [0, 0] dilations [2] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  // expected-error @+1 {{'pipe.avg_pool' op window of 12 is larger than the padded input of 8 in spatial dimension 0}}
  %2 = pipe.avg_pool %a window [12] strides [4] padding [0, 0] dilations [1] {ceil_mode = true} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  pipe.output
}
