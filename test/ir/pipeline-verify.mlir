// What graphs, weights, stages and transfers refuse.
// RUN: pipec-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'pipe.graph' op argument #0 must be a tensor of static shape with a bool, integer or float element type, got 'tensor<?xf32>'}}
pipe.graph @dynamic(%a: tensor<?xf32>) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op argument #0 must be a tensor of static shape with a bool, integer or float element type, got 'i32'}}
pipe.graph @scalar(%a: i32) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op argument #0 of type 'tensor<4611686018427387904xi16>' exceeds 2^62 bytes}}
pipe.graph @too_big(%a: tensor<4611686018427387904xi16>) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op argument #0: 'pipe.name' must be a string, got 1 : i64}}
pipe.graph @name(%a: tensor<f32> {pipe.name = 1}) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op has two arguments named "x"; names must be distinct}}
pipe.graph @two_arguments(%a: tensor<f32> {pipe.name = "x"}, %b: tensor<f32> {pipe.name = "x"}) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op has two results named "y"; names must be distinct}}
pipe.graph @two_results(%a: tensor<f32>) -> (tensor<f32> {pipe.name = "y"}, tensor<f32> {pipe.name = "y"}) {
  pipe.output %a, %a : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{'pipe.graph' op argument #0: 'pipe.whole' must be a unit attribute, got true}}
pipe.graph @whole(%a: tensor<f32> {pipe.whole = true}) {
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.graph' op result #0 cannot carry 'pipe.whole'; it is for arguments}}
pipe.graph @whole_result(%a: tensor<f32>) -> (tensor<f32> {pipe.whole}) {
  pipe.output %a : tensor<f32>
}

// -----

// expected-error @+1 {{'pipe.graph' op must end in 'pipe.output'}}
pipe.graph @no_output(%a: tensor<f32>) {
  %0 = pipe.relu %a : (tensor<f32>) -> tensor<f32>
}

// -----

pipe.graph @output_count(%a: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'pipe.output' op has 0 operands, but the graph has 1 results}}
  pipe.output
}

// -----

pipe.graph @output_type(%a: tensor<f32>) -> tensor<f64> {
  // expected-error @+1 {{'pipe.output' op operand #0 has type 'tensor<f32>', but the graph's result has type 'tensor<f64>'}}
  pipe.output %a : tensor<f32>
}

// -----

// expected-error @+1 {{'pipe.output' op expects parent op 'pipe.graph'}}
pipe.output

// -----

// expected-error @+1 {{'pipe.weight' op source names no file}}
pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"", 0, 8>

// -----

// expected-error @+1 {{'pipe.weight' op source has 4 bytes, but 'tensor<2xf32>' needs 8}}
pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 4>

// -----

// expected-error @+1 {{'pipe.weight' op source range overflows: offset 18446744073709551610, length 8}}
pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 18446744073709551610, 8>

// -----

// expected-error @+1 {{'pipe.weight' op source permutation must order 2 axes, got [1]}}
pipe.weight @w parameter : tensor<1x2xf32> from #pipe.source<"m", 0, 8, [1]>

// -----

// expected-error @+1 {{'pipe.weight' op source permutation must order 2 axes, got [1, 1]}}
pipe.weight @w parameter : tensor<1x2xf32> from #pipe.source<"m", 0, 8, [1, 1]>

// -----

// expected-error @+1 {{'pipe.weight' op type 'tensor<4611686018427387904xf32>' exceeds 2^62 bytes}}
pipe.weight @w parameter : tensor<4611686018427387904xf32> from #pipe.source<"m", 0, 8>

// -----

// expected-error @+1 {{'pipe.weight' op attribute 'type' failed to satisfy constraint}}
pipe.weight @w parameter : tensor<?xf32> from #pipe.source<"m", 0, 8>

// -----

// expected-error @+1 {{'pipe.weight' op aliases must be distinct, not empty, and differ from the symbol, got "w"}}
pipe.weight @w buffer : tensor<2xf32> from #pipe.source<"m", 0, 8> aliases ["w"]

// -----

// expected-error @+1 {{'pipe.weight' op aliases must be distinct, not empty, and differ from the symbol, got "a"}}
pipe.weight @w buffer : tensor<2xf32> from #pipe.source<"m", 0, 8> aliases ["a", "a"]

// -----

// expected-error @+1 {{'pipe.weight' op aliases must be distinct, not empty, and differ from the symbol, got ""}}
pipe.weight @w buffer : tensor<2xf32> from #pipe.source<"m", 0, 8> aliases [""]

// -----

pipe.graph @undeclared() {
  // expected-error @+1 {{'pipe.load_weight' op refers to @w, which no 'pipe.weight' declares}}
  %0 = pipe.load_weight @w : tensor<2xf32>
  pipe.output
}

// -----

// expected-note @+1 {{declared here}}
pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @load_type() {
  // expected-error @+1 {{'pipe.load_weight' op has type 'tensor<2xf16>', but the weight has type 'tensor<2xf32>'}}
  %0 = pipe.load_weight @w : tensor<2xf16>
  pipe.output
}

// -----

pipe.graph @stage_index(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.stage' op index must be at least 0, got -1}}
  pipe.stage -1 () {
    pipe.yield
  }
  pipe.output
}

// -----

pipe.graph @stage_body(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.stage' op has 1 inputs of types ('tensor<f32>'), but its body takes ('tensor<f64>')}}
  "pipe.stage"(%a) <{index = 0 : i64}> ({
  ^bb0(%b: tensor<f64>):
    pipe.yield
  }) : (tensor<f32>) -> ()
  pipe.output
}

// -----

pipe.graph @stage_end(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.stage' op must end in 'pipe.yield'}}
  pipe.stage 0 (%b = %a : tensor<f32>) {
    %0 = pipe.relu %b : (tensor<f32>) -> tensor<f32>
  }
  pipe.output
}

// -----

pipe.graph @stage_results(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.stage' op has results ('tensor<f32>'), but its body yields ()}}
  %0 = pipe.stage 0 (%b = %a : tensor<f32>) -> tensor<f32> {
    pipe.yield
  }
  pipe.output
}

// -----

pipe.graph @stage_input(%a: tensor<f32>) {
  // expected-note @+1 {{comes from here}}
  %0 = pipe.relu %a : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph or a 'pipe.transfer' to 0}}
  pipe.stage 0 (%b = %0 : tensor<f32>) {
    pipe.yield
  }
  pipe.output
}

// -----

pipe.graph @stage_transfer(%a: tensor<f32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<f32>) -> tensor<f32> {
    pipe.yield %b : tensor<f32>
  }
  // expected-note @+1 {{comes from here}}
  %1 = pipe.transfer %0 from 0 to 1 : tensor<f32>
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph or a 'pipe.transfer' to 2}}
  pipe.stage 2 (%b = %1 : tensor<f32>) {
    pipe.yield
  }
  pipe.output
}

// -----

pipe.graph @transfer_back(%a: tensor<f32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<f32>) -> tensor<f32> {
    pipe.yield %b : tensor<f32>
  }
  // expected-error @+1 {{'pipe.transfer' op goes from a stage to a later one, got from 0 to 0}}
  %1 = pipe.transfer %0 from 0 to 0 : tensor<f32>
  pipe.output
}

// -----

pipe.graph @transfer_value(%a: tensor<f32>) {
  // expected-error @+1 {{'pipe.transfer' op must send a result of a 'pipe.stage'}}
  %1 = pipe.transfer %a from 0 to 1 : tensor<f32>
  pipe.output
}

// -----

pipe.graph @transfer_stage(%a: tensor<f32>) {
  // expected-note @+1 {{made here}}
  %0 = pipe.stage 0 (%b = %a : tensor<f32>) -> tensor<f32> {
    pipe.yield %b : tensor<f32>
  }
  // expected-error @+1 {{'pipe.transfer' op sends from stage 1, but stage 0 makes the value}}
  %1 = pipe.transfer %0 from 1 to 2 : tensor<f32>
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.yield' op expects parent op 'pipe.stage'}}
pipe.yield

// -----

pipe.graph @phase(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected backward_input or backward_weight, got backward}}
  pipe.stage 0 backward () {
    pipe.yield
  }
  pipe.output
}

// -----

pipe.graph @residual_of_another(%a: tensor<2xf32>) {
  // expected-note @+1 {{comes from here}}
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph, a 'pipe.transfer' to 1 or a result of an earlier phase of stage 1}}
  %1 = pipe.stage 1 backward_weight (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  pipe.output
}

// -----

pipe.graph @residual_of_the_same_phase(%a: tensor<2xf32>) {
  // expected-note @+1 {{comes from here}}
  %0 = pipe.stage 0 backward_input (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph, a 'pipe.transfer' to 0 or a result of an earlier phase of stage 0}}
  %1 = pipe.stage 0 backward_input (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  pipe.output
}

// -----

pipe.graph @residual_of_a_later_phase(%a: tensor<2xf32>) {
  // expected-note @+1 {{comes from here}}
  %0 = pipe.stage 0 backward_weight (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph, a 'pipe.transfer' to 0 or a result of an earlier phase of stage 0}}
  %1 = pipe.stage 0 backward_input (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  pipe.output
}

// -----

pipe.graph @forward_reads_backward(%a: tensor<2xf32>) {
  // expected-note @+1 {{comes from here}}
  %0 = pipe.stage 0 backward_weight (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.stage' op input #0 must be an argument of the graph or a 'pipe.transfer' to 0}}
  %1 = pipe.stage 0 (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  pipe.output
}

// -----

pipe.graph @gradient_forward(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.transfer' op goes from a stage to an earlier one, got from 0 to 1}}
  %1 = pipe.transfer %0 from 0 to 1 gradient : tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @gradient_to_itself(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.transfer' op goes from a stage to an earlier one, got from 0 to 0}}
  %1 = pipe.transfer %0 from 0 to 0 gradient : tensor<2xf32>
  pipe.output
}

// -----

pipe.graph @gradient_of_nothing(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  %1 = pipe.stage 0 backward_weight (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.gradient' op refers to @w, which no 'pipe.weight' declares}}
  pipe.gradient %1 of @w site 0 : tensor<2xf32>
  pipe.output
}

// -----

// expected-note @+1 {{declared here}}
pipe.weight @w parameter : tensor<2xf64> from #pipe.source<"m", 0, 16>
pipe.graph @gradient_type(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  %1 = pipe.stage 0 backward_weight (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.gradient' op has type 'tensor<2xf32>', but the weight has type 'tensor<2xf64>'}}
  pipe.gradient %1 of @w site 0 : tensor<2xf32>
  pipe.output
}

// -----

pipe.weight @w buffer : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @gradient_of_a_buffer(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  %1 = pipe.stage 0 backward_weight (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.gradient' op is of a buffer; only parameters have gradients}}
  pipe.gradient %1 of @w site 0 : tensor<2xf32>
  pipe.output
}

// -----

pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @gradient_site(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  %1 = pipe.stage 0 backward_weight (%b = %0 : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.gradient' op site must be at least 0, got -1}}
  pipe.gradient %1 of @w site -1 : tensor<2xf32>
  pipe.output
}

// -----

pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @gradient_of_an_input(%a: tensor<2xf32>) {
  // expected-error @+1 {{'pipe.gradient' op must take a result of a stage's backward phase}}
  pipe.gradient %a of @w site 0 : tensor<2xf32>
  pipe.output
}

// -----

pipe.weight @w parameter : tensor<2xf32> from #pipe.source<"m", 0, 8>
pipe.graph @gradient_of_a_forward(%a: tensor<2xf32>) {
  %0 = pipe.stage 0 (%b = %a : tensor<2xf32>) -> tensor<2xf32> {
    pipe.yield %b : tensor<2xf32>
  }
  // expected-error @+1 {{'pipe.gradient' op must take a result of a stage's backward phase}}
  pipe.gradient %0 of @w site 0 : tensor<2xf32>
  pipe.output
}

// -----

// expected-error @+1 {{'pipe.stage' op expects parent op 'pipe.graph'}}
pipe.stage 0 () {
  pipe.yield
}
