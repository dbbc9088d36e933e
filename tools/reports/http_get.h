// One bounded HTTP GET through libcurl: how the command reads a collector. Threads: any, once the
// process has called it from one; blocks up to a minute; allocates.
#ifndef JANKBOX_TOOLS_REPORTS_HTTP_GET_H_
#define JANKBOX_TOOLS_REPORTS_HTTP_GET_H_

#include <cstddef>
#include <string>

#include "base/status.h"

namespace jankbox::tools {

// The body of a 200 answer. Anything else is an error whose message names the URL: kNotFound for
// 404, kUnavailable if no server answered, kInvalidArgument for a body above `max_bytes`.
Result<std::string> HttpGet(const std::string& url, size_t max_bytes);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_HTTP_GET_H_
