// Attention and rotary embedding of ONNX (opset 23 and later).
//
// In: Attention with 3-D or 4-D inputs, RotaryEmbedding. Out: `pipe.attention`;
// rotations as elementwise ops. Key-value caches and intermediate outputs are
// refused. Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <cmath>

namespace pipec::onnx {
namespace {

/// [B, S, H*D] as [B, H, S, D].
Val splitHeads(Emitter &e, const Val &x, int64_t heads) {
  return e.transpose(
      e.reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}),
      {0, 2, 1, 3});
}
/// The other way round.
Val joinHeads(Emitter &e, const Val &x) {
  Val moved = e.transpose(x, {0, 2, 1, 3});
  return e.reshape(moved, {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

/// Query i sees key j up to i, counted from the first of both; the op's own
/// `causal` counts from the last.
Val causalMask(Emitter &e, int64_t queries, int64_t keys) {
  Val row = e.iota({DType::I64, {queries, 1}}, 0),
      column = e.iota({DType::I64, {1, keys}}, 1);
  return e.compare(pipe::CompareKind::le, column, row);
}

/// Query i sees key j from i - size (`left`), or up to i + size.
Val windowMask(Emitter &e, int64_t queries, int64_t keys, int64_t size,
               bool left) {
  Val row = e.iota({DType::I64, {queries, 1}}, 0);
  Val column = e.iota({DType::I64, {1, keys}}, 1);
  Val border = e.add(row, e.reshape(e.ints({left ? -size : size}), {}));
  return e.compare(left ? pipe::CompareKind::ge : pipe::CompareKind::le, column,
                   border);
}

/// Keeps `mask` where `kept`, and hides the rest.
Val restricted(Emitter &e, const Val &mask, const Val &kept) {
  if (!mask)
    return kept;
  if (mask.dtype() == DType::Bool)
    return e.binary("and", mask, kept);
  return e.select(kept, mask, e.number(-INFINITY, mask.dtype()));
}

void refuseUnsupported(NodeContext &c) {
  const char *inputs[] = {"past_key", "past_value", "nonpad_kv_seqlen"};
  for (int k = 4; k < c.numInputs() && k < 7; ++k)
    if (c.has(k))
      return c.refuse(std::string("its input ") + inputs[k - 4] +
                      " is not supported: export without a cache of keys and "
                      "values (use_cache=False)");
  const char *outputs[] = {"present_key", "present_value", "qk_matmul_output"};
  for (int k = 1; k < c.node().output_size() && k < 4; ++k)
    c.cannotMake(k, std::string("is the ") + outputs[k - 1] +
                        " of an Attention, which is not supported");
  if (c.floatAttr("softcap", 0) != 0)
    return c.refuse("softcap is not supported");
}

void importAttention(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  refuseUnsupported(c);
  if (!c.ok())
    return;
  Val query = c.in(0), key = c.in(1), value = c.in(2), mask = c.in(3);
  bool flat = query.rank() == 3;
  if (!c.require(query.rank() == key.rank() && key.rank() == value.rank() &&
                     (flat || query.rank() == 4),
                 "query, key and value are not all of rank 3 or all of rank 4"))
    return;
  if (flat) {
    int64_t heads = c.intAttr("q_num_heads", 0),
            keyHeads = c.intAttr("kv_num_heads", 0);
    if (!c.require(
            heads > 0 && keyHeads > 0 && query.dim(2) % heads == 0 &&
                key.dim(2) % keyHeads == 0 && value.dim(2) % keyHeads == 0,
            "q_num_heads and kv_num_heads do not divide " +
                shapeText(query.shape()) + " and " + shapeText(key.shape())))
      return;
    query = splitHeads(c.e, query, heads);
    key = splitHeads(c.e, key, keyHeads);
    value = splitHeads(c.e, value, keyHeads);
  }
  if (!c.ok() || !c.require(query.dim(3) > 0, "the heads have no elements"))
    return;
  bool causal = c.intAttr("is_causal", 0) != 0,
       square = query.dim(2) == key.dim(2);
  if (causal && !square)
    mask = restricted(c.e, mask, causalMask(c.e, query.dim(2), key.dim(2)));
  for (const char *side : {"left_window_size", "right_window_size"})
    if (int64_t size = c.intAttr(side, -1); size >= 0)
      mask = restricted(
          c.e, mask,
          windowMask(c.e, query.dim(2), key.dim(2), size, side[0] == 'l'));
  std::vector<Val> operands{query, key, value};
  if (mask)
    operands.push_back(mask);
  double scale =
      c.floatAttr("scale", 1.0 / std::sqrt(static_cast<double>(query.dim(3))));
  Val result = c.e.emit1(
      "attention", operands,
      c.e.attrs().f64("scale", scale).boolean("causal", causal && square));
  c.out(0, flat && result ? joinHeads(c.e, result) : result);
}

/// cos or sin for each position, as [B or 1, 1, S, D/2].
Val rotaryTable(NodeContext &c, int input) {
  Val table = c.in(input);
  if (c.has(3))
    table = c.e.gather(table, c.in(3), 0);
  if (!table ||
      !c.require(table.rank() == 3,
                 "the cache " + shapeText(table.shape()) + " does not fit"))
    return Val();
  return c.e.reshape(table, {table.dim(0), 1, table.dim(1), table.dim(2)});
}

/// Rotates pairs of elements: halves of the head, or neighbours when
/// interleaved.
Val rotated(Emitter &e, const Val &x, const Val &cosine, const Val &sine,
            bool interleaved) {
  int64_t half = x.dim(3) / 2;
  Val first, second;
  Shape part{x.dim(0), x.dim(1), x.dim(2), half};
  if (interleaved) {
    Val pairs = e.reshape(x, {part[0], part[1], part[2], half, 2});
    first = e.reshape(e.sliceDim(pairs, 4, 0, 1), part);
    second = e.reshape(e.sliceDim(pairs, 4, 1, 2), part);
  } else {
    first = e.sliceDim(x, 3, 0, half);
    second = e.sliceDim(x, 3, half, 2 * half);
  }
  Val real = e.sub(e.mul(cosine, first), e.mul(sine, second));
  Val imaginary = e.add(e.mul(sine, first), e.mul(cosine, second));
  if (!interleaved || !e.ok())
    return e.concat({real, imaginary}, 3);
  part.push_back(1);
  return e.reshape(
      e.concat({e.reshape(real, part), e.reshape(imaginary, part)}, 4),
      x.shape());
}

void importRotary(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  Val x = c.in(0);
  bool flat = x.rank() == 3;
  int64_t heads = c.intAttr("num_heads", 0);
  if (!c.require(flat ? heads > 0 && x.dim(2) % heads == 0 : x.rank() == 4,
                 "num_heads " + std::to_string(heads) + " does not fit " +
                     shapeText(x.shape())))
    return;
  if (flat)
    x = splitHeads(c.e, x, heads);
  int64_t size = c.intAttr("rotary_embedding_dim", 0);
  size = size > 0 ? size : x.dim(3);
  if (!c.ok() || !c.require(size <= x.dim(3) && size % 2 == 0,
                            "rotary_embedding_dim " + std::to_string(size) +
                                " does not fit " + shapeText(x.shape())))
    return;
  Val cosine = rotaryTable(c, 1), sine = rotaryTable(c, 2);
  if (!c.ok())
    return;
  Val turned = rotated(c.e, c.e.sliceDim(x, 3, 0, size), cosine, sine,
                       c.intAttr("interleaved", 0) != 0);
  if (size < x.dim(3))
    turned = c.e.concat({turned, c.e.sliceDim(x, 3, size, x.dim(3))}, 3);
  c.out(0, flat && turned ? joinHeads(c.e, turned) : turned);
}

constexpr OpEntry kTable[] = {{"Attention", 23, importAttention},
                              {"RotaryEmbedding", 23, importRotary}};

} // namespace

OpTable attentionOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
