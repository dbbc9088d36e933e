// Text of the app as valid UTF-8, which the string fields of a trace must be: names come cut at a
// fixed number of bytes, or from libraries that know nothing of encodings. Cold; allocates.
#ifndef JANKBOX_TRACER_PERFETTO_UTF8_H_
#define JANKBOX_TRACER_PERFETTO_UTF8_H_

#include <string>
#include <string_view>

namespace jankbox {

// `text` with a cut-off last character dropped and every other malformed byte replaced by '?'.
std::string ToValidUtf8(std::string_view text);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_UTF8_H_
