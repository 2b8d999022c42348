// Ops of one operand. In: a tensor. Out: one of the same shape, each element
// computed alone in f32 (f64 for f64) and rounded once. Functions of <cmath> in
// their f32 form. Tests: test/unit/kernels/UnaryTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

#include <cmath>

namespace pipec::reference {

KernelOr makeUnary(const OpDesc &op, DType resultType, UnaryRow row) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {resultType, op.inputs[0].shape}));
  const int64_t n = op.inputs[0].numElements();
  return makeKernel(
      [row, n](const Run &run) { row(run.out<char>(), run.in<char>(0), n); });
}

namespace {

#define PIPEC_UNARY(Name, expression)                                          \
  struct Name {                                                                \
    template <typename C> static C apply(C x) { return expression; }           \
  };

PIPEC_UNARY(Floor, std::floor(x))
PIPEC_UNARY(Ceil, std::ceil(x))
PIPEC_UNARY(Round, std::nearbyint(x))
PIPEC_UNARY(Sqrt, std::sqrt(x))
PIPEC_UNARY(Reciprocal, C(1) / x)
PIPEC_UNARY(Rsqrt, C(1) / std::sqrt(x))
PIPEC_UNARY(Not, !x)
PIPEC_UNARY(BitwiseNot, static_cast<C>(~x))
PIPEC_UNARY(Relu, x < C(0) ? C(0) : x)
PIPEC_UNARY(Exp, std::exp(x))
PIPEC_UNARY(Expm1, std::expm1(x))
PIPEC_UNARY(Log, std::log(x))
PIPEC_UNARY(Log1p, std::log1p(x))
PIPEC_UNARY(Sin, std::sin(x))
PIPEC_UNARY(Cos, std::cos(x))
PIPEC_UNARY(Tan, std::tan(x))
PIPEC_UNARY(Asin, std::asin(x))
PIPEC_UNARY(Acos, std::acos(x))
PIPEC_UNARY(Atan, std::atan(x))
PIPEC_UNARY(Sinh, std::sinh(x))
PIPEC_UNARY(Cosh, std::cosh(x))
PIPEC_UNARY(Tanh, std::tanh(x))
PIPEC_UNARY(Asinh, std::asinh(x))
PIPEC_UNARY(Acosh, std::acosh(x))
PIPEC_UNARY(Atanh, std::atanh(x))
PIPEC_UNARY(Erf, std::erf(x))
PIPEC_UNARY(Softplus,
            (x > C(0) ? x : C(0)) + std::log1p(std::exp(-std::abs(x))))
PIPEC_UNARY(GeluErf,
            C(0.5) * x * (C(1) + std::erf(x * C(0.70710678118654752440))))
PIPEC_UNARY(GeluTanh, C(0.5) * x *
                          (C(1) + std::tanh(C(0.79788456080286535588) *
                                            (x + C(0.044715) * (x * x * x)))))
#undef PIPEC_UNARY

struct Abs {
  template <typename C> static C apply(C x) {
    if constexpr (std::is_floating_point_v<C>)
      return std::abs(x);
    else
      return x < C(0)
                 ? static_cast<C>(Wrapping<C>(0) - static_cast<Wrapping<C>>(x))
                 : x;
  }
};

struct Neg {
  template <typename C> static C apply(C x) {
    if constexpr (std::is_floating_point_v<C>)
      return -x;
    else
      return static_cast<C>(Wrapping<C>(0) - static_cast<Wrapping<C>>(x));
  }
};

struct Sign {
  template <typename C> static C apply(C x) {
    return x != x ? x
                  : static_cast<C>(static_cast<int>(x > C(0)) -
                                   static_cast<int>(x < C(0)));
  }
};

struct Sigmoid {
  template <typename C> static C apply(C x) {
    const C e = std::exp(-std::abs(x));
    return (x < C(0) ? e : C(1)) / (C(1) + e);
  }
};

struct Silu {
  template <typename C> static C apply(C x) { return x * Sigmoid::apply(x); }
};

struct IsNan {
  template <typename C> static bool apply(C x) { return x != x; }
};

template <bool Positive, bool Negative> struct IsInf {
  template <typename C> static bool apply(C x) {
    return (Positive && x == C(INFINITY)) || (Negative && x == -C(INFINITY));
  }
};

KernelOr makeGelu(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const bool approximate,
                         attrOr(op, "tanh_approximation", false));
  return approximate ? unaryFactory<kFloat, GeluTanh>(op)
                     : unaryFactory<kFloat, GeluErf>(op);
}

template <typename F> KernelOr predicateFactory(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeUnary(op, DType::Bool,
                     unaryRow<F, typename decltype(tag)::type, Bool>);
  });
}

KernelOr makeIsInf(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const bool positive,
                         attrOr(op, "detect_positive", true));
  PIPEC_ASSIGN_OR_RETURN(const bool negative,
                         attrOr(op, "detect_negative", true));
  if (positive)
    return negative ? predicateFactory<IsInf<true, true>>(op)
                    : predicateFactory<IsInf<true, false>>(op);
  return negative ? predicateFactory<IsInf<false, true>>(op)
                  : predicateFactory<IsInf<false, false>>(op);
}

} // namespace

void registerUnary(KernelRegistry &registry) {
  const std::pair<const char *, KernelOr (*)(const OpDesc &)> table[] = {
      {"abs", unaryFactory<kNum, Abs>},
      {"neg", unaryFactory<kNum, Neg>},
      {"sign", unaryFactory<kNum, Sign>},
      {"relu", unaryFactory<kNum, Relu>},
      {"floor", unaryFactory<kFloat, Floor>},
      {"ceil", unaryFactory<kFloat, Ceil>},
      {"round", unaryFactory<kFloat, Round>},
      {"sqrt", unaryFactory<kFloat, Sqrt>},
      {"reciprocal", unaryFactory<kFloat, Reciprocal>},
      {"rsqrt", unaryFactory<kFloat, Rsqrt>},
      {"not", unaryFactory<kBool, Not>},
      {"bitwise_not", unaryFactory<kInt, BitwiseNot>},
      {"exp", unaryFactory<kFloat, Exp>},
      {"expm1", unaryFactory<kFloat, Expm1>},
      {"log", unaryFactory<kFloat, Log>},
      {"log1p", unaryFactory<kFloat, Log1p>},
      {"sin", unaryFactory<kFloat, Sin>},
      {"cos", unaryFactory<kFloat, Cos>},
      {"tan", unaryFactory<kFloat, Tan>},
      {"asin", unaryFactory<kFloat, Asin>},
      {"acos", unaryFactory<kFloat, Acos>},
      {"atan", unaryFactory<kFloat, Atan>},
      {"sinh", unaryFactory<kFloat, Sinh>},
      {"cosh", unaryFactory<kFloat, Cosh>},
      {"tanh", unaryFactory<kFloat, Tanh>},
      {"asinh", unaryFactory<kFloat, Asinh>},
      {"acosh", unaryFactory<kFloat, Acosh>},
      {"atanh", unaryFactory<kFloat, Atanh>},
      {"erf", unaryFactory<kFloat, Erf>},
      {"sigmoid", unaryFactory<kFloat, Sigmoid>},
      {"silu", unaryFactory<kFloat, Silu>},
      {"softplus", unaryFactory<kFloat, Softplus>},
      {"gelu", makeGelu},
      {"is_nan", predicateFactory<IsNan>},
      {"is_inf", makeIsInf},
  };
  for (const auto &[name, factory] : table)
    registry.add(name, KernelSet::Reference, factory);
}

} // namespace pipec::reference
