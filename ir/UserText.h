// Messages of the IR in the words of somebody who has a model, not IR.
#ifndef PIPEC_IR_USERTEXT_H
#define PIPEC_IR_USERTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec::pipe {

/// A diagnostic's text without the names of ops and with types as everything
/// else prints them: "'pipe.add' op got 'tensor<2xf32>'" is "got 'f32[2]'". Who
/// says which node it is about is the caller. Thread rule: any thread.
std::string userText(llvm::StringRef text);

} // namespace pipec::pipe

#endif // PIPEC_IR_USERTEXT_H
