// Values that live together lie apart; a reshape of an arena value lies where its operand lies.
// RUN: pipec-opt %s --pipe-lower-plan-memory | FileCheck %s

// CHECK: pipe.stage 0 {{.*}}pipe.arena_bytes = 128
// CHECK: pipe.relu {{.*}}pipe.arena_offsets = array<i64: [[A:[0-9]+]]>
// CHECK: pipe.tanh {{.*}}pipe.arena_offsets = array<i64: [[B:[0-9]+]]>
// CHECK: pipe.reshape {{.*}}pipe.arena_offsets = array<i64: [[B]]>
// CHECK: pipe.exp {{.*}}pipe.arena_offsets = array<i64: [[A]]>
pipe.graph @main(%x: tensor<4x4xf32>) -> tensor<16xf32> {
  %0 = pipe.stage 0 (%a = %x : tensor<4x4xf32>) -> tensor<16xf32> {
    %1 = pipe.relu %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = pipe.tanh %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = pipe.reshape %2 to [16] : (tensor<4x4xf32>) -> tensor<16xf32>
    %4 = pipe.exp %3 : (tensor<16xf32>) -> tensor<16xf32>
    pipe.yield %4 : tensor<16xf32>
  }
  pipe.output %0 : tensor<16xf32>
}
