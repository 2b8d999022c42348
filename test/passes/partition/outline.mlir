// Stages, transfers straight to each reader, and what is repeated instead of sent.
// RUN: pipec-opt %s --split-input-file --pipe-partition-outline --pipe-partition-verify | FileCheck %s

// A value read in two later stages goes to each by a transfer of its own.
// CHECK-LABEL: pipe.graph @skip
// CHECK: %[[S0:.*]] = pipe.stage 0 (%{{.*}} = %arg0 : tensor<4xf32>) -> tensor<4xf32>
// CHECK:   pipe.relu
// CHECK-DAG: %[[T1:.*]] = pipe.transfer %[[S0]] from 0 to 1
// CHECK-DAG: %[[T2:.*]] = pipe.transfer %[[S0]] from 0 to 2
// CHECK: %[[S1:.*]] = pipe.stage 1 (%{{.*}} = %[[T1]] : tensor<4xf32>)
// CHECK: %[[T3:.*]] = pipe.transfer %[[S1]] from 1 to 2
// CHECK: %[[S2:.*]] = pipe.stage 2
// CHECK: pipe.output %[[S2]]
pipe.graph @skip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.tanh %0 {pipe.stage_index = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pipe.add %0, %1 {pipe.stage_index = 2 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pipe.output %2 : tensor<4xf32>
}

// -----

// A mask made of an integer input is repeated; the weight is referred to where it is read.
// CHECK-LABEL: pipe.graph @mask
// CHECK: pipe.stage 0
// CHECK-NOT: compare
// CHECK: pipe.transfer
// CHECK-NOT: tensor<4xi1>
// CHECK: pipe.stage 1 ({{.*}}%arg1
// CHECK-DAG: pipe.compare
// CHECK-DAG: pipe.load_weight @w
// CHECK: pipe.select
pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m.onnx", 0, 16>
pipe.graph @mask(%x: tensor<4xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %zero = pipe.constant dense<0> : tensor<i64>
  %w = pipe.load_weight @w : tensor<4xf32>
  %m = pipe.compare gt %ids, %zero {pipe.stage_index = 0 : i64} : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.select %m, %0, %w {pipe.stage_index = 1 : i64} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}

// -----

// A table in the model file, which is no parameter, is read where the mask is made again.
// CHECK-LABEL: pipe.graph @mask_of_a_table
// CHECK: pipe.stage 0
// CHECK-NOT: pipe.and
// CHECK: pipe.transfer
// CHECK-NOT: tensor<4xi1>
// CHECK: pipe.stage 1 ({{.*}}%arg1
// CHECK: pipe.load_weight @table
// CHECK: pipe.and
pipe.weight @table constant : tensor<4xi1> from #pipe.source<"m.onnx", 0, 4>
pipe.graph @mask_of_a_table(%x: tensor<4xf32>, %mask: tensor<4xi1>) -> tensor<4xf32> {
  %zero = pipe.constant dense<0.0> : tensor<f32>
  %t = pipe.load_weight @table : tensor<4xi1>
  %m = pipe.and %t, %mask {pipe.stage_index = 0 : i64} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.select %m, %0, %zero {pipe.stage_index = 1 : i64} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}

// -----

// A mask made of a float input depends on data: it is sent.
// CHECK-LABEL: pipe.graph @data_mask
// CHECK: pipe.transfer {{.*}} : tensor<4xi1>
pipe.graph @data_mask(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = pipe.constant dense<0.0> : tensor<f32>
  %m = pipe.compare gt %x, %zero {pipe.stage_index = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.select %m, %0, %zero {pipe.stage_index = 1 : i64} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  pipe.output %1 : tensor<4xf32>
}

// -----

// Inputs and constants handed through leave by a stage, and are sent nowhere.
// CHECK-LABEL: pipe.graph @through
// CHECK: %[[S0:.*]]:2 = pipe.stage 0
// CHECK: %[[S1:.*]]:2 = pipe.stage 1
// CHECK: pipe.constant
// CHECK: pipe.output %[[S0]]#{{[01]}}, %[[S1]]#0, %[[S1]]#1
pipe.graph @through(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi64>) {
  %c = pipe.constant dense<[1, 2]> : tensor<2xi64>
  %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.tanh %0 {pipe.stage_index = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %x, %1, %c : tensor<4xf32>, tensor<4xf32>, tensor<2xi64>
}

// -----

// What is repeated elsewhere stays where a stage holds nothing else, and is sent.
// CHECK-LABEL: pipe.graph @only_a_mask
// CHECK: %[[S0:.*]] = pipe.stage 0
// CHECK:   pipe.compare
// CHECK: pipe.transfer %[[S0]] from 0 to 1 : tensor<4xi1>
// CHECK: pipe.stage 1
// CHECK-NOT: pipe.compare
// CHECK: pipe.select
pipe.graph @only_a_mask(%x: tensor<4xf32>, %ids: tensor<4xi64>) -> tensor<4xf32> {
  %zero = pipe.constant dense<0> : tensor<i64>
  %m = pipe.compare gt %ids, %zero {pipe.stage_index = 0 : i64} : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  %0 = pipe.select %m, %x, %x {pipe.stage_index = 1 : i64} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}
