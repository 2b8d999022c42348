// Every dropout reads the graph's key, each with a stream of its own: its place in the model file.
// RUN: pipec-opt %s -split-input-file -pipe-import-seed-dropout | FileCheck %s

// CHECK-LABEL: pipe.graph @main
// CHECK-SAME: %[[KEY:[a-z0-9]+]]: tensor<3xi64> {pipe.name = "random_key", pipe.role = "random_key", pipe.whole})
pipe.graph @main(%x: tensor<4xf32> {pipe.name = "x"}) -> tensor<4xf32> {
  // CHECK: pipe.dropout %{{[a-z0-9]+}} key %[[KEY]] ratio 1.000000e-01 {stream = 3 : i64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  %0 = pipe.dropout %x ratio 0.1 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<3, "Dropout", "a", "m">>["m"])
  // Of one node's two ops the second takes the next place; so does an op without one.
  // CHECK: pipe.dropout {{.*}} key %[[KEY]] ratio 5.000000e-01 {stream = 4 : i64}
  %1 = pipe.dropout %0 ratio 0.5 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<3, "Dropout", "a", "m">>["m"])
  // CHECK: pipe.dropout {{.*}} {stream = 5 : i64}
  %2 = pipe.dropout %1 ratio 0.5 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: pipe.dropout {{.*}} {stream = 9 : i64}
  %3 = pipe.dropout %2 ratio 0.5 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<9, "Dropout", "b", "m">>["m"])
  pipe.output %3 : tensor<4xf32>
}

// -----

// A name that is taken gets a suffix; the role says what it is.
// CHECK-LABEL: pipe.graph @taken
// CHECK-SAME: pipe.name = "random_key.1", pipe.role = "random_key"
pipe.graph @taken(%x: tensor<4xf32> {pipe.name = "random_key"}) -> tensor<4xf32> {
  // CHECK: pipe.dropout {{.*}} ratio 1.000000e-01 : (tensor<4xf32>, tensor<3xi64>)
  %0 = pipe.dropout %x ratio 0.1 : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: pipe.graph @nothing
// CHECK-NOT: random_key
pipe.graph @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  pipe.output %0 : tensor<4xf32>
}

// -----

// What has a key keeps it, and its stream stays its own.
// CHECK-LABEL: pipe.graph @seeded
// CHECK-SAME: %[[OLD:[a-z0-9]+]]: tensor<3xi64> {pipe.name = "k"}, %[[NEW:[a-z0-9]+]]: tensor<3xi64> {pipe.name = "random_key"
pipe.graph @seeded(%x: tensor<4xf32> {pipe.name = "x"}, %k: tensor<3xi64> {pipe.name = "k"}) -> tensor<4xf32> {
  // CHECK: pipe.dropout %{{[a-z0-9]+}} key %[[OLD]] ratio 5.000000e-01 {stream = 3 : i64}
  %0 = pipe.dropout %x key %k ratio 0.5 {stream = 3 : i64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  // CHECK: pipe.dropout %{{[a-z0-9]+}} key %[[NEW]] ratio 5.000000e-01 {stream = 4 : i64}
  %1 = pipe.dropout %0 ratio 0.5 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<3, "Dropout", "a", "m">>["m"])
  pipe.output %1 : tensor<4xf32>
}
