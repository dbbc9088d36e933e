// What may leave the device of a text that an app or a person wrote: names of messages, methods,
// markers, threads and locks, states and attributes. Identifiers stay; what could name a person or
// open a door goes. Any thread; allocates.
#ifndef JANKBOX_BASE_TEXT_PRIVATE_TEXT_H_
#define JANKBOX_BASE_TEXT_PRIVATE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jankbox {

// `text` without mail addresses, URLs' hosts and queries, directories, long or formatted numbers,
// hexadecimal and base64 tokens, values after "password=" and the like, and the literals of SQL:
//   "open /home/ann/My files/tax.pdf"       "open tax.pdf"
//   "GET https://ann@api.x.org/v1/me?t=1"   "GET https://*/me"
//   "call +49 170 1234567"                  "call <number>"
//   "mail to ann@x.org"                     "mail to <mail>"
//   "SELECT a FROM t WHERE b = 'ann'"       "SELECT a FROM t WHERE b = ?"
// What these rules put in place of something, they leave alone.
std::string CleanedText(std::string_view text);

// The app's own rules, for texts that have passed ours: writes what may leave the device to `out`
// and returns its length. More than `capacity` bytes: nothing of the text leaves it.
using TextFilter = size_t (*)(void* context, const char* text, size_t text_bytes, char* out,
                              size_t capacity);

// For the whole process, from the next text on.
void SetTextFilter(TextFilter filter, void* context);  // null: none
void CleanTexts(bool on);                              // initially on
bool TextsAreCleaned();

// As reports and traces have the first 1024 bytes of `text`: cleaned if that is on, as the app's
// filter has it, valid UTF-8, and at most `max_bytes` long.
std::string SealedText(std::string_view text, size_t max_bytes = SIZE_MAX);

}  // namespace jankbox

#endif  // JANKBOX_BASE_TEXT_PRIVATE_TEXT_H_
