// Diagnostics for users: see UserText.h. In: text of a verifier or of shape
// inference. Out: the same without MLIR's terms. Tests:
// test/unit/ir/UserTextTest.cpp.
#include "ir/UserText.h"

#include "llvm/ADT/StringExtras.h"

namespace pipec::pipe {
namespace {

bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }

/// "'pipe.concat' op " at the front of `text`, or where an op is only
/// mentioned, its name: both are taken off, and the name is what is left of the
/// second.
bool takeOp(llvm::StringRef &text, std::string &out) {
  llvm::StringRef rest = text;
  const bool quoted = rest.consume_front("'");
  if (!rest.consume_front("pipe."))
    return false;
  llvm::StringRef name = rest.take_while(isNameChar);
  rest = rest.drop_front(name.size());
  if (name.empty() || (quoted && !rest.consume_front("'")))
    return false;
  if (!(quoted && rest.consume_front(" op ")))
    out += quoted ? "'" + name.str() + "'" : name.str();
  text = rest;
  return true;
}

/// "f32" for "f32", "u8" for "ui8", "bool" for "i1".
std::string elementText(llvm::StringRef element) {
  if (element == "i1")
    return "bool";
  if (element.consume_front("ui"))
    return ("u" + element).str();
  return element.str();
}

/// "tensor<2x3xf32>" at the front of `text`, as "f32[2x3]".
bool takeType(llvm::StringRef &text, std::string &out) {
  llvm::StringRef rest = text;
  if (!rest.consume_front("tensor<"))
    return false;
  auto [inside, behind] = rest.split('>');
  if (inside.size() == rest.size() ||
      inside.find_first_not_of("0123456789x?abfiu") != llvm::StringRef::npos)
    return false;
  llvm::StringRef shape = inside.take_while(
      [](char c) { return llvm::isDigit(c) || c == 'x' || c == '?'; });
  llvm::StringRef element = inside.drop_front(shape.size());
  shape.consume_back("x");
  out += elementText(element) + "[" + shape.str() + "]";
  text = behind;
  return true;
}

/// "statically shaped tensor of 32-bit float or bool values" at the front of
/// `text`, as "f32 or bool".
bool takeConstraint(llvm::StringRef &text, std::string &out) {
  llvm::StringRef rest = text;
  if (!rest.consume_front("statically shaped tensor of "))
    return false;
  auto [types, behind] = rest.split(" values");
  if (types.size() == rest.size())
    return false;
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kWords[] = {
      {"bfloat16 type", "bf16"},
      {"-bit signless integer", "i"},
      {"-bit unsigned integer", "u"},
      {"-bit float", "f"}};
  bool isFirst = true;
  while (!types.empty()) {
    auto [type, others] = types.split(" or ");
    types = others;
    std::string word = type.str();
    for (const auto &[words, letter] : kWords)
      if (type.consume_back(words))
        word = letter.str() + type.str();
    out += (isFirst ? "" : " or ") + word;
    isFirst = false;
  }
  text = behind;
  return true;
}

} // namespace

std::string userText(llvm::StringRef text) {
  std::string out;
  bool insideWord = false; // of a name of the model, which stays
  while (!text.empty()) {
    if (!insideWord && (takeOp(text, out) || takeType(text, out) ||
                        takeConstraint(text, out))) {
      insideWord = false;
      continue;
    }
    insideWord = isNameChar(text.front());
    out += text.front();
    text = text.drop_front();
  }
  return out;
}

} // namespace pipec::pipe
