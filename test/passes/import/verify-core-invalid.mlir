// The gate names each thing that does not belong in an imported module.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect -pipe-import-verify-core

pipe.graph @no_origin(%x: tensor<4xf32>) {
  // expected-error @+1 {{'pipe.relu' op has no origin: its location holds no #pipe.origin, so reports and splits could not name it}}
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output
}

// -----

pipe.graph @dropout(%x: tensor<4xf32>) {
  // expected-error @+1 {{'pipe.dropout' op is not expected after import; run pipe-import-drop-dropout or, to train, pipe-import-seed-dropout before the gate}}
  %0 = pipe.dropout %x ratio 0.5 : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output
}

// -----

pipe.graph @foreign(%x: tensor<4xf32>) {
  // expected-error @+1 {{'other.op' op is not expected in a graph after import, only tensor ops of the pipe dialect are}}
  "other.op"(%x) : (tensor<4xf32>) -> ()
  // expected-error @+1 {{'pipe.stage' op is not expected in a graph after import, only tensor ops of the pipe dialect are}}
  pipe.stage 0 () {
    pipe.yield
  }
  pipe.output
}

// -----

// expected-error @+1 {{'other.op' op is not expected in a module after import, only 'pipe.graph' and 'pipe.weight' are}}
"other.op"() : () -> ()
pipe.graph @main() {
  pipe.output
}

// -----

// expected-error @+1 {{expected one 'pipe.graph', got 2}}
module {
  pipe.graph @a() {
    pipe.output
  }
  pipe.graph @b() {
    pipe.output
  }
}

// -----

// expected-error @+1 {{expected one 'pipe.graph', got 0}}
module {
}
