// The system properties that steer atrace, and whether they changed. On Android the real ones. On
// Linux the lines `key=value` of a file, or, without one, the environment as it was when the source
// was made, under the same keys. Jankbox's own threads; allocates.
#ifndef JANKBOX_TRACER_ATRACE_PROPERTY_SOURCE_H_
#define JANKBOX_TRACER_ATRACE_PROPERTY_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {

class PropertySource {
 public:
  // `path`: of the file on Linux, empty: none. Reads nothing but the environment.
  explicit PropertySource(std::string path);

  // Reads again; true if a value is another than before. A file that is not there (any more) has
  // no properties. After an error, which it gives, the values stay as they were.
  Result<bool> Refresh();

  const PropertyValues& values() const { return values_; }

  // True if the atrace library applies these properties itself (Android).
  static bool LibraryReadsThem();

 private:
  const std::string path_;
  [[maybe_unused]] uint32_t serial_ = 0;  // Android: of the property area as of the last reading
  PropertyValues values_;
};

// The lines `key=value` of `text`. Blank lines and those that begin with '#' are passed over, the
// others that are no legal property counted in `refused`. The last line of a key counts.
PropertyValues ParseProperties(std::string_view text, size_t* refused);

// True for an absolute path without a ".." component.
bool IsPlainAbsolutePath(std::string_view path);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_PROPERTY_SOURCE_H_
