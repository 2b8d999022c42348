// Puts named tensors into a WeightTable, such that no name changes what is
// computed.
//
// In: claims of what tensors are. Out: a WeightTable in which every reader
// reads the bytes that it reads in the file. Tests:
// test/unit/frontends/WeightTableTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_WEIGHTTABLEBUILDER_H
#define PIPEC_FRONTENDS_COMMON_WEIGHTTABLEBUILDER_H

#include "frontends/common/WeightTable.h"

namespace pipec::frontend {

/// Says that a tensor of the file is a parameter or buffer, in which form.
struct Claim {
  std::string name; // state_dict name
  WeightKind kind = WeightKind::Parameter;
  int owner = 0;        // the initializer whose bytes the parameter has
  TensorType type;      // in PyTorch's orientation
  Permutation declared; // of the owner, as in WeightDecl
  /// From the parameter to the tensor, as in WeightUse, where the tensor is not
  /// the owner itself.
  std::optional<Permutation> use;

  /// The same where axis k as it lies is axis moved[k] of the parameter.
  Claim moved(const Permutation &moved) const;
};
/// The tensor as it lies, under that name.
Claim claimOf(const NamedTensors &tensors, int initializer,
              const std::string &name, WeightKind kind = WeightKind::Parameter);

/// Fills a WeightTable. What is computed does not depend on names: a tensor
/// becomes part of a declaration only where its bytes are that declaration's,
/// and stays a constant under its own name where they are not, or where two
/// claims contradict each other.
class WeightTableBuilder {
public:
  WeightTableBuilder(const NamedTensors &tensors, const ImportOptions &options)
      : tensors(tensors), options(options) {}

  /// What `reader` reads of `initializer`: what `claim` says, where that holds.
  void read(int initializer, Reader reader, const std::optional<Claim> &claim);
  /// The same for an initializer that no node reads.
  void keep(int initializer, const std::optional<Claim> &claim);
  /// The claim that `initializer` is a moved copy of the initializer `owner`,
  /// which is `name` as it lies. Nothing where the bytes differ, or where
  /// several moves give them (an identity). Kept in `copies` of the table; one
  /// that --untie names in `apart`.
  std::optional<Claim> claimCopy(int initializer, const std::string &name,
                                 int owner);
  /// The claim that `initializer` is a moved copy of the one declared parameter
  /// under its own name whose bytes it has: it is read in both forms, W and
  /// W.t(). Nothing where the bytes are not distinctive (zeros) or several
  /// parameters have them.
  std::optional<Claim> claimCopyOfAny(int initializer);
  /// A tensor that may be the parameter `name` ("": any) or what was made of
  /// it.
  void refute(int initializer, const std::string &name) {
    table.refuted[initializer] = name;
  }
  const WeightTable &made() const { return table; }
  /// The table, with declarations in the order of the file.
  WeightTable take();

private:
  WeightUse use(int initializer, const std::optional<Claim> &claim);
  std::optional<WeightUse> declared(int initializer, const Claim &claim);

  const NamedTensors &tensors;
  const ImportOptions &options;
  WeightTable table;
  std::map<std::string, int> byName; // declarations that are no constants
  std::map<int, int> constants;      // by initializer
  // Initializers: parameters as they lie under their own names.
  std::multimap<Fingerprint, int> kept;
};

/// Whether the tensor of `initializer` is the declared weight, in the form that
/// `use` says. Compares the bytes where they lie in two places.
bool isDeclared(const NamedTensors &tensors, const WeightDecl &decl,
                const WeightUse &use, int initializer,
                const std::function<void()> &before = {});
/// A call for `before` that tells `progress` what is compared, where it is
/// large.
std::function<void()> announcing(const Notice &progress,
                                 const std::string &first,
                                 const std::string &second,
                                 const TensorType &type);

} // namespace pipec::frontend

#endif
