// The gate behind partitioning names the op and the rule.
// RUN: pipec-opt %s --split-input-file --verify-diagnostics --pipe-partition-verify

pipe.graph @loose(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{stands outside of every stage}}
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}

// -----

pipe.graph @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is out of order, expected stage 0}}
  %0 = pipe.stage 1 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    pipe.yield %a : tensor<4xf32>
  }
  pipe.output %0 : tensor<4xf32>
}

// -----

pipe.graph @read_by_output(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    pipe.yield %a : tensor<4xf32>
  }
  // expected-error @+1 {{must be read by a pipe.stage alone}}
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}

// -----

pipe.graph @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    pipe.yield %a : tensor<4xf32>
  }
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  // expected-error @+1 {{sends a value to stage 1 a second time}}
  %2 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  %3 = pipe.stage 1 (%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) -> tensor<4xf32> {
    %4 = pipe.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pipe.yield %4 : tensor<4xf32>
  }
  pipe.output %3 : tensor<4xf32>
}

// -----

pipe.graph @unread(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    pipe.yield %a : tensor<4xf32>
  }
  // expected-error @+1 {{is not read by stage 1}}
  %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}
