// Parameter updates. In: parameter, gradient, learning rate. Out: the parameter
// and the optimizer's state, changed in place.
//
// The loops are written so that they vectorise: no branch inside, options are
// template parameters, no aliasing. Built without errno for sqrt and, as
// everything here, without contraction: each operation rounds by itself.
// Tests: test/unit/optimizer/OptimizerTest.cpp, against torch.optim.
#include "runtime/optimizer/optimizer.h"

#include <cmath>
#include <cstring>

namespace pipec {
namespace {

struct SgdFactors {
  float scale, decay, momentum, keep /* 1 - dampening */, lr;
};

// torch.optim.SGD: with d = g + decay * p, the buffer is d at first and
// momentum * buffer + (1 - dampening) * d later; p moves by -lr times d, the
// buffer, or (Nesterov) d + momentum * buffer.
template <bool Decay, bool Momentum, bool First, bool Nesterov>
void sgd(float *__restrict p, const float *__restrict g,
         float *__restrict buffer, int64_t n, const SgdFactors f) {
  for (int64_t i = 0; i < n; ++i) {
    float d = g[i] * f.scale;
    if (Decay)
      d = d + f.decay * p[i];
    if (Momentum) {
      const float b = First ? d : buffer[i] * f.momentum + f.keep * d;
      buffer[i] = b;
      d = Nesterov ? d + f.momentum * b : b;
    }
    p[i] = p[i] - f.lr * d;
  }
}

template <bool Decay, bool Momentum, bool First>
void sgdNesterov(bool nesterov, float *p, const float *g, float *buffer,
                 int64_t n, const SgdFactors &f) {
  if (Momentum && nesterov)
    sgd<Decay, Momentum, First, true>(p, g, buffer, n, f);
  else
    sgd<Decay, Momentum, First, false>(p, g, buffer, n, f);
}

template <bool Decay>
void sgdMomentum(const OptimizerConfig &config, bool first, float *p,
                 const float *g, float *buffer, int64_t n,
                 const SgdFactors &f) {
  if (config.momentum == 0)
    sgd<Decay, false, false, false>(p, g, nullptr, n, f);
  else if (first)
    sgdNesterov<Decay, true, true>(config.nesterov, p, g, buffer, n, f);
  else
    sgdNesterov<Decay, true, false>(config.nesterov, p, g, buffer, n, f);
}

struct AdamFactors {
  float scale;
  float shrink; // 1 - lr * decay of AdamW
  float decay;  // of Adam
  float gain1 /* 1 - beta1 */, beta2, gain2 /* 1 - beta2 */;
  float rootCorrection; // sqrt(1 - beta2^step)
  float eps;
  float stepSize; // lr / (1 - beta1^step)
};

enum class Decay { None, Coupled, Decoupled };

// torch.optim.Adam and AdamW. The first moment is torch.lerp, which counts from
// the nearer end: SmallGain says that 1 - beta1 is below one half.
template <Decay D, bool SmallGain>
void adam(float *__restrict p, const float *__restrict g, float *__restrict m,
          float *__restrict v, int64_t n, const AdamFactors f) {
  for (int64_t i = 0; i < n; ++i) {
    float x = p[i];
    float d = g[i] * f.scale;
    if (D == Decay::Decoupled)
      x = x * f.shrink;
    if (D == Decay::Coupled)
      d = d + f.decay * x;
    const float difference = d - m[i];
    const float first = SmallGain ? m[i] + f.gain1 * difference
                                  : d - difference * (1.0f - f.gain1);
    const float second = v[i] * f.beta2 + f.gain2 * d * d;
    m[i] = first;
    v[i] = second;
    const float denominator = std::sqrt(second) / f.rootCorrection + f.eps;
    p[i] = x - f.stepSize * first / denominator;
  }
}

template <Decay D>
void adamGain(float *p, const float *g, float *m, float *v, int64_t n,
              const AdamFactors &f) {
  if (f.gain1 < 0.5f)
    adam<D, true>(p, g, m, v, n, f);
  else
    adam<D, false>(p, g, m, v, n, f);
}

AdamFactors adamFactors(const OptimizerConfig &config, double scale, double lr,
                        int64_t step) {
  const double t = static_cast<double>(step);
  AdamFactors f;
  f.scale = static_cast<float>(scale);
  f.shrink = static_cast<float>(1 - lr * config.weightDecay);
  f.decay = static_cast<float>(config.weightDecay);
  f.gain1 = static_cast<float>(1 - config.beta1);
  f.beta2 = static_cast<float>(config.beta2);
  f.gain2 = static_cast<float>(1 - config.beta2);
  f.rootCorrection =
      static_cast<float>(std::sqrt(1 - std::pow(config.beta2, t)));
  f.eps = static_cast<float>(config.eps);
  f.stepSize = static_cast<float>(lr / (1 - std::pow(config.beta1, t)));
  return f;
}

StatusOr<Tensor> zeros(const TensorType &type) {
  PIPEC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type));
  std::memset(tensor.data(), 0, tensor.byteSize());
  return tensor;
}

} // namespace

StatusOr<Optimizer> Optimizer::create(const OptimizerConfig &config) {
  PIPEC_RETURN_IF_ERROR(config.validate());
  return Optimizer(config);
}

size_t Optimizer::stateBytesPerElement(const OptimizerConfig &config) {
  if (config.kind != OptimizerKind::Sgd)
    return 2 * sizeof(float);
  return config.momentum != 0 ? sizeof(float) : 0;
}

StatusOr<size_t> Optimizer::add(const std::string &name,
                                const TensorType &type) {
  if (type.dtype != DType::F32)
    return unsupported("parameter '" + name + "' is " + type.str() +
                       ": only f32 parameters can be trained; freeze it with "
                       "--freeze, or export the model in f32");
  if (names.count(name))
    return invalidArgument("parameter '" + name +
                           "' was given to the optimizer twice");
  const size_t arrays = stateBytesPerElement(config) / sizeof(float);
  Slot slot;
  slot.name = name;
  slot.count = type.numElements();
  auto prepare = [&]() -> Status {
    PIPEC_ASSIGN_OR_RETURN(slot.step, zeros({DType::I64, {}}));
    if (arrays > 0) {
      PIPEC_ASSIGN_OR_RETURN(slot.first, zeros(type));
    }
    if (arrays > 1) {
      PIPEC_ASSIGN_OR_RETURN(slot.second, zeros(type));
    }
    return Status();
  };
  if (Status status = prepare(); !status.ok())
    return status.withPrefix("optimizer state of '" + name + "'");
  names.insert(name);
  slots.push_back(std::move(slot));
  return slots.size() - 1;
}

void Optimizer::apply(size_t slot, float *parameter, const float *gradient,
                      double gradientScale, double lr) {
  Slot &s = slots[slot];
  const int64_t step = ++*s.step.as<int64_t>();
  float *first = s.first.as<float>(), *second = s.second.as<float>();
  if (config.kind == OptimizerKind::Sgd) {
    const SgdFactors f = {static_cast<float>(gradientScale),
                          static_cast<float>(config.weightDecay),
                          static_cast<float>(config.momentum),
                          static_cast<float>(1 - config.dampening),
                          static_cast<float>(lr)};
    if (config.weightDecay != 0)
      sgdMomentum<true>(config, step == 1, parameter, gradient, first, s.count,
                        f);
    else
      sgdMomentum<false>(config, step == 1, parameter, gradient, first, s.count,
                         f);
    return;
  }
  const AdamFactors f = adamFactors(config, gradientScale, lr, step);
  if (config.weightDecay == 0)
    adamGain<Decay::None>(parameter, gradient, first, second, s.count, f);
  else if (config.kind == OptimizerKind::Adam)
    adamGain<Decay::Coupled>(parameter, gradient, first, second, s.count, f);
  else
    adamGain<Decay::Decoupled>(parameter, gradient, first, second, s.count, f);
}

int64_t Optimizer::steps(size_t slot) const {
  return *slots[slot].step.as<int64_t>();
}

std::map<std::string, TensorView> Optimizer::state() {
  const bool isSgd = config.kind == OptimizerKind::Sgd;
  std::map<std::string, TensorView> views;
  for (Slot &slot : slots) {
    views["optimizer.step." + slot.name] = slot.step.view();
    if (!slot.first.empty())
      views[(isSgd ? "optimizer.momentum_buffer." : "optimizer.exp_avg.") +
            slot.name] = slot.first.view();
    if (!slot.second.empty())
      views["optimizer.exp_avg_sq." + slot.name] = slot.second.view();
  }
  return views;
}

} // namespace pipec
