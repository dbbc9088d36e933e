// The last thing that went wrong, for jankbox_last_error(), also logged as a warning. THREAD-SAFE;
// locks; never on a hot path.
#ifndef JANKBOX_BASE_LAST_ERROR_H_
#define JANKBOX_BASE_LAST_ERROR_H_

#include <string>
#include <string_view>

namespace jankbox {

void SetLastError(const std::string& message);

// Ends with a NUL; valid until the same thread calls this again. Where there is no memory for it,
// it says so.
std::string_view LastError();

}  // namespace jankbox

#endif  // JANKBOX_BASE_LAST_ERROR_H_
