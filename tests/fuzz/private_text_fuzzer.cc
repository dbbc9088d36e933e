// Texts of an app, as they are cleaned for a report.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text/private_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string sealed = jankbox::SealedText(text, 1024);
  if (sealed.size() > 1024) abort();
  if (jankbox::CleanedText(text).size() > 10 * size) abort();
  return 0;
}
