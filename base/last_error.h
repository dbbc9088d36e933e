// The last thing that went wrong, for jankbox_last_error(), also logged as a warning. THREAD-SAFE;
// locks; never on a hot path.
#ifndef JANKBOX_BASE_LAST_ERROR_H_
#define JANKBOX_BASE_LAST_ERROR_H_

#include <string>

namespace jankbox {

void SetLastError(const std::string& message);
std::string LastError();

}  // namespace jankbox

#endif  // JANKBOX_BASE_LAST_ERROR_H_
