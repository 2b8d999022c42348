// Escapes text for a terminal: see printable.h. In: bytes from anywhere. Out:
// UTF-8 that moves no cursor. Tests: test/unit/base/PrintableTest.cpp.
#include "runtime/base/printable.h"

#include <cstdio>

namespace pipec {
namespace {

/// Length of the UTF-8 character at the front of `text`, and which it is; 0
/// where there is none.
size_t decode(std::string_view text, char32_t &character) {
  const unsigned char first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
  if (length == 0 || length > text.size())
    return 0;
  character = length == 1 ? first : first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80)
      return 0;
    character = character << 6 | (text[i] & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = character >= 0xd800 && character < 0xe000;
  return character < kSmallest[length] || character > 0x10ffff || isSurrogate
             ? 0
             : length;
}

bool isControl(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
         c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

} // namespace

std::string printable(std::string_view text, bool keepNotes) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    char32_t character = 0;
    size_t length = decode(text, character);
    const bool isNote = keepNotes && text.substr(0, 3) == "\n  ";
    if (isNote || (length != 0 && !isControl(character))) {
      clean += text.substr(0, length);
    } else {
      length = length == 0 ? 1 : length;
      for (size_t i = 0; i < length; ++i) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x",
                      static_cast<unsigned char>(text[i]));
        clean += escaped;
      }
    }
    text.remove_prefix(length);
  }
  return clean;
}

} // namespace pipec
