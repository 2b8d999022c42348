// What cannot be differentiated is named, all of it.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics -pipe-differentiate
// RUN: not pipec-opt %s -split-input-file -pipe-differentiate=recompute=some 2>&1 | FileCheck %s
// CHECK: recompute must be none or full, got 'some'

// expected-error @+1 {{'pipe.graph' op has no result to differentiate}}
pipe.graph @main() {
  pipe.output
}

// -----

pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
// expected-error @+1 {{'pipe.graph' op result 0, the loss, must be a float scalar, got 'tensor<2xf32>'}}
pipe.graph @main() -> tensor<2xf32> {
  %0 = pipe.stage 0 () -> tensor<2xf32> {
    %w = pipe.load_weight @w : tensor<2xf32>
    %1 = pipe.exp %w : (tensor<2xf32>) -> tensor<2xf32>
    pipe.yield %1 : tensor<2xf32>
  }
  pipe.output %0 : tensor<2xf32>
}

// -----

// expected-error @+1 {{'pipe.graph' op result 0, the loss, must be a float scalar, got 'tensor<i64>'}}
pipe.graph @main(%x: tensor<i64>) -> tensor<i64> {
  %0 = pipe.stage 0 (%a = %x : tensor<i64>) -> tensor<i64> {
    pipe.yield %a : tensor<i64>
  }
  pipe.output %0 : tensor<i64>
}

// -----

pipe.weight @frozen parameter : tensor<f32> from #pipe.source<"m", 0, 4> {pipe.frozen}
pipe.weight @cut parameter : tensor<f32> from #pipe.source<"m", 0, 4>
// expected-error @+1 {{the loss depends on no parameter that is trained}}
pipe.graph @main() -> tensor<f32> {
  %0 = pipe.stage 0 () -> tensor<f32> {
    %w = pipe.load_weight @frozen : tensor<f32>
    %c = pipe.load_weight @cut : tensor<f32>
    %i = pipe.convert %c : (tensor<f32>) -> tensor<i64>
    %f = pipe.convert %i : (tensor<i64>) -> tensor<f32>
    %1 = pipe.mul %w, %f : (tensor<f32>, tensor<f32>) -> tensor<f32>
    pipe.yield %1 : tensor<f32>
  }
  pipe.output %0 : tensor<f32>
}

// -----

pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @main() -> tensor<f32> {
  %0 = pipe.stage 0 () -> tensor<2xf32> {
    %w = pipe.load_weight @w : tensor<2xf32>
    // expected-error @+1 {{'pipe.dropout' op has no key; run pipe-import-seed-dropout first}}
    %1 = pipe.dropout %w ratio 0.5 : (tensor<2xf32>) -> tensor<2xf32>
    pipe.yield %1 : tensor<2xf32>
  }
  %3 = pipe.transfer %0 from 0 to 1 : tensor<2xf32>
  %4 = pipe.stage 1 (%a = %3 : tensor<2xf32>) -> tensor<f32> {
    // expected-error @+1 {{'pipe.dropout' op has no key; run pipe-import-seed-dropout first}}
    %5 = pipe.dropout %a ratio 0.25 : (tensor<2xf32>) -> tensor<2xf32>
    %8 = pipe.reduce sum %5 dims [0] : (tensor<2xf32>) -> tensor<f32>
    pipe.yield %8 : tensor<f32>
  }
  pipe.output %4 : tensor<f32>
}

// -----

pipe.weight @w parameter : tensor<f32> from #pipe.source<"m", 0, 4>
// expected-error @+1 {{'pipe.graph' op has no stages; run the partition phase first}}
pipe.graph @main() -> tensor<f32> {
  %w = pipe.load_weight @w : tensor<f32>
  %0 = pipe.exp %w : (tensor<f32>) -> tensor<f32>
  pipe.output %0 : tensor<f32>
}

// -----

pipe.weight @w parameter : tensor<f32> from #pipe.source<"m", 0, 4>
pipe.graph @main() -> tensor<f32> {
  // expected-error @+1 {{'pipe.stage' op yields a value twice, or one that it received; each has to leave the stage that makes it, once}}
  %0:2 = pipe.stage 0 () -> (tensor<f32>, tensor<f32>) {
    %w = pipe.load_weight @w : tensor<f32>
    %1 = pipe.exp %w : (tensor<f32>) -> tensor<f32>
    pipe.yield %1, %1 : tensor<f32>, tensor<f32>
  }
  %1 = pipe.transfer %0#0 from 0 to 1 : tensor<f32>
  %2 = pipe.transfer %0#1 from 0 to 1 : tensor<f32>
  %3 = pipe.stage 1 (%a = %1 : tensor<f32>, %b = %2 : tensor<f32>) -> tensor<f32> {
    %4 = pipe.mul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    pipe.yield %4 : tensor<f32>
  }
  pipe.output %3 : tensor<f32>
}

// -----

pipe.weight @w parameter : tensor<f32> from #pipe.source<"m", 0, 4>
pipe.graph @main() -> tensor<f32> {
  %0 = pipe.stage 0 () -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<f32>
    %1 = pipe.exp %w : (tensor<f32>) -> tensor<f32>
    pipe.yield %1 : tensor<f32>
  }
  %1 = pipe.transfer %0 from 0 to 1 : tensor<f32>
  %2 = pipe.transfer %0 from 0 to 2 : tensor<f32>
  // expected-error @+1 {{'pipe.stage' op yields a value twice, or one that it received}}
  %3 = pipe.stage 1 (%a = %1 : tensor<f32>) -> tensor<f32> {
    pipe.yield %a : tensor<f32>
  }
  %4 = pipe.transfer %3 from 1 to 2 : tensor<f32>
  %5 = pipe.stage 2 (%a = %2 : tensor<f32>, %b = %4 : tensor<f32>) -> tensor<f32> {
    %6 = pipe.mul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    pipe.yield %6 : tensor<f32>
  }
  pipe.output %5 : tensor<f32>
}
