// Names of files, models and tensors as text for a terminal.
#ifndef PIPEC_RUNTIME_BASE_PRINTABLE_H
#define PIPEC_RUNTIME_BASE_PRINTABLE_H

#include <string>
#include <string_view>

namespace pipec {

/// `text` with every byte that a terminal could take for a command, or that is
/// no UTF-8, as \xNN: control characters (of one byte, and U+0080 to U+009F),
/// marks that turn the direction of writing, line ends. With `keepNotes`, a
/// line end that two spaces follow stays: notes of an error begin so. Thread
/// rule: any thread.
std::string printable(std::string_view text, bool keepNotes = false);

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_PRINTABLE_H
