// Derivatives of scatters that combine: extremes share the gradient, of a product each factor gets that of the others.
// RUN: pipec-opt %s -split-input-file -pipe-differentiate | FileCheck %s

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>
pipe.weight @u parameter : tensor<2xf32> from #pipe.source<"m", 16, 8>

// CHECK-LABEL: pipe.graph @extreme
// CHECK: %[[R:.*]] = pipe.scatter_elements max %[[X:.*]], %[[I:.*]], %[[U:.*]] dim 0
// CHECK: pipe.stage 0 backward_weight
// CHECK: %[[SELF:.*]] = pipe.compare eq %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK: pipe.gather_elements
// CHECK: %[[UPDATE:.*]] = pipe.compare eq %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// CHECK: %[[COUNT:.*]] = pipe.scatter_elements add
// CHECK: %[[SHARE:.*]] = pipe.div %{{.*}}, %[[COUNT]]
// CHECK: pipe.select %[[SELF]], %[[SHARE]], %{{.*}}
// CHECK: %[[MINE:.*]] = pipe.gather_elements %[[SHARE]]
// CHECK: pipe.select %[[UPDATE]], %[[MINE]], %{{.*}}
pipe.graph @extreme(%i: tensor<2xi64>) -> tensor<f32> {
  %0 = pipe.stage 0 (%a = %i : tensor<2xi64>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %u = pipe.load_weight @u : tensor<2xf32>
    %1 = pipe.scatter_elements max %w, %a, %u dim 0 : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
    %2 = pipe.reduce sum %1 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %2 : tensor<f32>
  }
  pipe.output %0 : tensor<f32>
}

// -----

pipe.weight @w parameter : tensor<4xf32> from #pipe.source<"m", 0, 16>
pipe.weight @u parameter : tensor<2xf32> from #pipe.source<"m", 16, 8> {pipe.frozen}

// Only the operand is trained: nothing is gathered.
// CHECK-LABEL: pipe.graph @product
// CHECK: pipe.stage 0 backward_weight
// CHECK: %[[ZERO:.*]] = pipe.compare eq
// CHECK: %[[FACTOR:.*]] = pipe.select %[[ZERO]], %{{.*}}, %{{.*}}
// CHECK: %[[PRODUCT:.*]] = pipe.scatter_nd mul %[[FACTOR]], %{{.*}}, %{{.*}}
// CHECK: %[[SCALED:.*]] = pipe.chain mul %{{.*}}, %[[PRODUCT]]
// CHECK: pipe.chain div %[[SCALED]], %[[FACTOR]]
// CHECK-NOT: pipe.gather_nd
pipe.graph @product(%i: tensor<2x1xi64>) -> tensor<f32> {
  %0 = pipe.stage 0 (%a = %i : tensor<2x1xi64>) -> tensor<f32> {
    %w = pipe.load_weight @w : tensor<4xf32>
    %u = pipe.load_weight @u : tensor<2xf32>
    %1 = pipe.scatter_nd mul %w, %a, %u : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<4xf32>
    %2 = pipe.reduce sum %1 dims [0] : (tensor<4xf32>) -> tensor<f32>
    pipe.yield %2 : tensor<f32>
  }
  pipe.output %0 : tensor<f32>
}
