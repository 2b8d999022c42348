// Normalisations, softmax, attention and dropout parse, print and parse again.
// RUN: pipec-opt %s | pipec-opt | FileCheck %s
// RUN: pipec-opt %s -mlir-print-op-generic | pipec-opt | FileCheck %s

// CHECK-LABEL: pipe.graph @norms
pipe.graph @norms(%a: tensor<2x4xf32>, %c: tensor<4xf32>, %k: tensor<3xi64>, %i: tensor<3xi32>) {
  // CHECK: pipe.softmax %{{.*}} dim 1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = pipe.softmax %a dim 1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.log_softmax %{{.*}} dim 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = pipe.log_softmax %a dim 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} axis 1 epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = pipe.layer_norm %a scale %c bias %c axis 1 epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.layer_norm %{{.*}} bias %{{.*}} axis 1 epsilon 0.000000e+00 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = pipe.layer_norm %a bias %c axis 1 epsilon 0.0 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.layer_norm %{{[a-z0-9]*}} axis 0 epsilon 1.000000e-05 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = pipe.layer_norm %a axis 0 epsilon 1.0e-5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.rms_norm %{{.*}} scale %{{.*}} axis 1 epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %5 = pipe.rms_norm %a scale %c axis 1 epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.rms_norm %{{[a-z0-9]*}} axis 1 epsilon 1.000000e-05 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = pipe.rms_norm %a axis 1 epsilon 1.0e-5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.group_norm %{{.*}} scale %{{.*}} groups 2 epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %7 = pipe.group_norm %a scale %c groups 2 epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.batch_norm %{{.*}} scale %{{.*}} bias %{{.*}} mean %{{.*}} variance %{{.*}} epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %8 = pipe.batch_norm %a scale %c bias %c mean %c variance %c epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.dropout %{{.*}} ratio 1.000000e-01 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = pipe.dropout %a ratio 0.1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.dropout %{{[a-z0-9]+}} key %{{[a-z0-9]+}} ratio 5.000000e-01 {stream = 4294967295 : i64} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x4xf32>
  %10 = pipe.dropout %a key %k ratio 0.5 {stream = 4294967295 : i64} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x4xf32>
  // CHECK: pipe.dropout %{{[a-z0-9]+}} key %{{[a-z0-9]+}} ratio 0.000000e+00 : (tensor<2x4xf32>, tensor<3xi32>) -> tensor<2x4xf32>
  %11 = pipe.dropout %a key %i ratio 0.0 : (tensor<2x4xf32>, tensor<3xi32>) -> tensor<2x4xf32>
  // CHECK: pipe.batch_norm {{.*}} epsilon 1.000000e-05 {momentum = 8.000000e-01 : f64, population_variance = true} :
  %12 = pipe.batch_norm %a scale %c bias %c mean %c variance %c epsilon 1.0e-5 {momentum = 8.000000e-01 : f64, population_variance = true} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  pipe.output
}

// CHECK-LABEL: pipe.graph @attention
pipe.graph @attention(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x3xf32>, %m: tensor<5x6xi1>, %f: tensor<4x1x6xf32>) {
  // CHECK: pipe.attention %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 {causal = true} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  %0 = pipe.attention %q, %k, %v scale 0.125 {causal = true} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>) -> tensor<2x4x5x3xf32>
  // CHECK: pipe.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 1.000000e+00 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<5x6xi1>) -> tensor<2x4x5x3xf32>
  %1 = pipe.attention %q, %k, %v mask %m scale 1.0 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<5x6xi1>) -> tensor<2x4x5x3xf32>
  // CHECK: pipe.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 1.000000e+00 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<4x1x6xf32>) -> tensor<2x4x5x3xf32>
  %2 = pipe.attention %q, %k, %v mask %f scale 1.0 : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<4x1x6xf32>) -> tensor<2x4x5x3xf32>
  pipe.output
}
