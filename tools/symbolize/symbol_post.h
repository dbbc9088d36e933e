// Symbols over HTTP to a collector, through libcurl. Threads: one; blocks on the network.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_SYMBOL_POST_H_
#define JANKBOX_TOOLS_SYMBOLIZE_SYMBOL_POST_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"

namespace jankbox::tools {

// Sends the file at `path` to `url`. The answer's JSON; an error's message is the server's, if it
// gave one. `on_progress` gets 0..1.
Result<nlohmann::json> PostSymbols(const std::string& url, const std::string& path,
                                   const std::function<void(double done)>& on_progress);

// `text` as a part of a query.
std::string QueryText(const std::string& text);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_SYMBOL_POST_H_
