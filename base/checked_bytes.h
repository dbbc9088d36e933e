// How Jankbox frames a small file that is replaced as a whole: a magic, CRC-32C of the content
// (little endian), the content. It finds torn and foreign files. Any thread; allocates.
#ifndef JANKBOX_BASE_CHECKED_BYTES_H_
#define JANKBOX_BASE_CHECKED_BYTES_H_

#include <optional>
#include <string>
#include <string_view>

namespace jankbox {

std::string AddChecksum(std::string_view magic, std::string_view content);

// The content, a part of `bytes`; nothing if the magic is another or the checksum is wrong.
std::optional<std::string_view> CheckedContent(std::string_view magic, std::string_view bytes);

}  // namespace jankbox

#endif  // JANKBOX_BASE_CHECKED_BYTES_H_
