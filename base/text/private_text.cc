#include "base/text/private_text.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/utf8.h"

namespace jankbox {
namespace {

constexpr std::string_view kMail = "<mail>";
constexpr std::string_view kNumber = "<number>";
constexpr std::string_view kToken = "<token>";
constexpr std::string_view kRemoved = "<removed>";

// Process ids have seven digits, telephone numbers eight and more.
constexpr size_t kLongNumberDigits = 8;
constexpr size_t kFormattedNumberDigits = 9;
constexpr size_t kHexTokenBytes = 16;
constexpr size_t kTokenPartBytes = 16;
constexpr size_t kCutTokenBytes = 10;  // of a thread's name, which has 15 bytes
constexpr size_t kCutTextBytes = 15;
constexpr size_t kUuidBytes = 36;
constexpr size_t kLeastHashBytes = 5;  // of an object of Java: "Handler@1a2b3"
constexpr size_t kMostBytes = 1024;    // of a text; the rest is cut off

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
bool IsAlnum(char c) { return IsLetter(c) || IsDigit(c); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsForeign(char c) { return static_cast<unsigned char>(c) >= 0x80; }  // of another alphabet
bool IsWord(char c) { return IsAlnum(c) || c == '_' || c == '$' || IsForeign(c); }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool EndsWithNoCase(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == Lower(b); });
}

bool StartsWithNoCase(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() && EndsWithNoCase(text.substr(0, begin.size()), begin);
}

// How many bytes from `at` on are `is_one`.
template <typename IsOne>
size_t Run(std::string_view text, size_t at, IsOne&& is_one) {
  size_t end = at;
  while (end < text.size() && is_one(text[end])) ++end;
  return end - at;
}

// Digits in a row that stand between other characters: words have one or two, random text many.
size_t DigitGroups(std::string_view text) {
  size_t groups = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    groups += IsDigit(text[i]) && (i == 0 || !IsDigit(text[i - 1])) ? 1 : 0;
  }
  return groups;
}

// Places where lower case, upper case and digits meet.
size_t Changes(std::string_view text) {
  const auto kind = [](char c) { return IsLower(c) ? 0 : IsUpper(c) ? 1 : 2; };
  size_t changes = 0;
  for (size_t i = 1; i < text.size(); ++i) changes += kind(text[i]) != kind(text[i - 1]) ? 1 : 0;
  return changes;
}

// 8-4-4-4-12 hexadecimal digits.
bool IsUuid(std::string_view text) {
  if (text.size() != kUuidBytes) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return false;
  }
  return true;
}

bool IsHexToken(std::string_view text) {
  return text.size() >= kHexTokenBytes && std::all_of(text.begin(), text.end(), IsHex) &&
         std::any_of(text.begin(), text.end(), IsDigit);
}

// In "ActivityThread2Handler" a third of all places are changes at most; among random letters and
// digits, more than half are. Short words without a digit, as "doFrameOnUiThread", have as many.
bool IsRandom(std::string_view part) {
  if (part.size() >= kCutTokenBytes && DigitGroups(part) >= 4) return true;
  if (part.size() < kTokenPartBytes) return false;
  const size_t digits = DigitGroups(part);
  return digits >= 3 || (digits != 0 && Changes(part) * 100 >= part.size() * 42);
}

// A name of C++, Rust or Emacs ("F6361_ca_0") as a compiler writes it.
bool IsMangled(std::string_view text) {
  if (text.substr(0, 2) == "_Z" || text.substr(0, 2) == "_R") return true;
  const size_t digits = text[0] == 'F' ? Run(text, 1, IsHex) : 0;
  return digits != 0 && text.substr(1 + digits, 1) == "_";
}

// `text` is of letters, digits and "_-".
bool IsToken(std::string_view text) {
  if (IsHexToken(text) || IsUuid(text)) return true;
  if (text.size() < kCutTokenBytes) return false;
  if (StartsWithNoCase(text, "0x") && std::all_of(text.begin() + 2, text.end(), IsHex))
    return false;
  for (size_t at = 0; at < text.size();) {
    const size_t size = Run(text, at, IsAlnum);
    if (IsRandom(text.substr(at, size))) return true;
    at += size + 1;
  }
  return false;
}

// Whether a word names something that nobody else should know.
bool IsSecret(std::string_view word) {
  for (std::string_view name :
       {"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key",
        "api-key", "authorization", "cookie", "credential", "credentials"}) {
    if (EndsWithNoCase(word, name)) return true;
  }
  return false;
}

// The same of a person; only before "=", and as a word of its own: "user", "last_user", "lastUser".
bool IsPersonal(std::string_view word) {
  for (std::string_view name :
       {"auth",      "session", "sessionid", "session_id", "sid",   "signature", "pin",
        "otp",       "ssn",     "iban",      "mail",       "phone", "user",      "username",
        "user_name", "login",   "account",   "address",    "lat",   "lon",       "lng"}) {
    if (!EndsWithNoCase(word, name)) continue;
    const size_t at = word.size() - name.size();
    if (at == 0 || !IsLetter(word[at - 1]) || IsUpper(word[at])) return true;
  }
  return false;
}

// Whether a path is one of the system's, which names nobody.
bool IsOfTheSystem(std::string_view path) {
  for (std::string_view root :
       {"/proc/", "/sys/", "/usr/", "/lib/", "/system/", "/apex/", "/vendor/", "/product/"}) {
    if (path.starts_with(root)) return true;
  }
  return false;
}

// A statement of SQL from its begin on; others begin with two words that FindStatement() knows.
bool IsStatement(std::string_view text) {
  for (std::string_view begin : {"explain ", "pragma ", "create table ", "create index ",
                                 "alter table ", "attach database "}) {
    if (StartsWithNoCase(text, begin)) return true;
  }
  return false;
}

// Where a statement of SQL begins inside of a text: a verb and the word that belongs to it.
size_t FindStatement(std::string_view text) {
  constexpr std::string_view kPairs[][2] = {{"select ", "from "},
                                            {"insert ", "into "},
                                            {"update ", "set "},
                                            {"delete ", "from "},
                                            {"replace ", "into "}};
  const auto find = [text](std::string_view word, size_t from) {
    for (size_t at = from; at < text.size(); ++at) {
      const bool begins = at == 0 || !IsWord(text[at - 1]);
      if (begins && StartsWithNoCase(text.substr(at), word)) return at;
    }
    return std::string_view::npos;
  };
  size_t first = std::string_view::npos;
  for (const auto& [verb, word] : kPairs) {
    const size_t at = find(verb, 0);
    if (at < first && find(word, at) != std::string_view::npos) first = at;
  }
  return first;
}

// One text, from its begin to its end. Each Take…() either takes what is at `at_` or leaves it.
class TextCleaner {
 public:
  explicit TextCleaner(std::string_view text) : text_(text) {}

  std::string Clean() {
    out_.reserve(text_.size());
    const size_t statement = IsStatement(text_) ? 0 : FindStatement(text_);
    while (at_ < text_.size()) {
      if (at_ >= statement) {
        CleanStatement(/*all=*/statement == 0);
      } else if (!TakeWhole() && !TakePath()) {
        TakeRest();
      }
    }
    return std::move(out_);
  }

 private:
  bool has(size_t at) const { return at < text_.size(); }
  bool AtWordStart() const { return at_ == 0 || !IsWord(text_[at_ - 1]); }
  std::string_view From(size_t at, size_t bytes) const { return text_.substr(at, bytes); }
  bool Put(std::string_view replacement, size_t bytes) {
    out_ += replacement;
    at_ += bytes;
    return true;
  }

  // What has no directories.
  bool TakeWhole() {
    return AtWordStart() &&
           (TakeUrl() || TakeMail() || TakeSecret() || TakeNumber() || TakeToken());
  }

  void TakeRest() {
    const size_t word = Run(text_, at_, IsWord);
    if (word == 0) {
      out_ += text_[at_++];
      return;
    }
    const size_t end = at_ + word;
    while (at_ < end) {
      const size_t digits = Run(text_, at_, IsDigit);
      const size_t suffix = Run(text_, at_ + digits, [](char c) { return IsOneOf(c, "uUlL"); });
      if (digits != 0 && suffix != 0 && at_ + digits + suffix == end) {  // a constant of C++
        Put(From(at_, digits + suffix), digits + suffix);
      } else if (digits >= kLongNumberDigits && !InHexNumber(end) && !AfterFrame()) {
        Put(kNumber, digits);
      } else {
        Put(From(at_, std::max<size_t>(digits, 1)), std::max<size_t>(digits, 1));
      }
    }
  }

  // An address, as "0x7f12345678ab".
  bool InHexNumber(size_t end) const {
    size_t begin = at_;
    while (begin > 0 && IsWord(text_[begin - 1])) --begin;
    const std::string_view word = From(begin, end - begin);
    return word.size() <= 2 + kHexTokenBytes && StartsWithNoCase(word, "0x") &&
           std::all_of(word.begin() + 2, word.end(), IsHex);
  }

  // A file's name, or the last part of a URL.
  void PutName(std::string_view name) {
    TextCleaner inner(name);
    while (inner.at_ < name.size()) {
      if (!inner.TakeWhole()) inner.TakeRest();
    }
    out_ += inner.out_;
  }

  // What follows the last of `separators`, without one at the end.
  static std::string_view LastPart(std::string_view path, std::string_view separators) {
    while (!path.empty() && IsOneOf(path.back(), separators)) path.remove_suffix(1);
    const size_t before = path.find_last_of(separators);
    return before == std::string_view::npos ? path : path.substr(before + 1);
  }

  bool TakeUrl() {
    const size_t scheme = Run(text_, at_, [](char c) { return IsAlnum(c) || IsOneOf(c, "+.-"); });
    if (scheme < 2 || !IsLetter(text_[at_]) || From(at_ + scheme, 3) != "://") return false;
    const size_t begin = at_ + scheme + 3;
    if (From(begin, 2) == "*/") {  // cleaned before
      const size_t all = Run(text_, at_, [](char c) { return !IsSpace(c); });
      return Put(From(at_, all), all);
    }
    size_t end = begin + Run(text_, begin,
                             [](char c) { return !IsSpace(c) && !IsOneOf(c, "\"'<>`{}|\\^"); });
    while (end > begin && IsOneOf(text_[end - 1], ".,;:!)]")) --end;
    const std::string_view rest = From(begin, end - begin);
    const std::string_view place = rest.substr(0, rest.find_first_of("?#"));
    out_ += From(at_, scheme + 3);
    out_ += '*';
    if (const size_t path = place.find('/'); path != std::string_view::npos) {
      const std::string_view last = LastPart(place.substr(path), "/");
      if (!last.empty()) {
        out_ += '/';
        PutName(last);
      }
    }
    at_ = end;
    return true;
  }

  // Of mail; `end` is where it ends. Interfaces of Android are "light@2.0::ILight", objects of Java
  // "Handler@1a2b3c". The name of a thread, which was cut, may have a part of a host only; reports
  // have "name [tid]".
  bool IsHost(std::string_view host, size_t end) const {
    const size_t dot = host.rfind('.');
    if (dot == std::string_view::npos || host.size() - dot < 3) {
      const bool cut = end == text_.size() ? end >= kCutTextBytes : From(end, 2) == " [";
      return cut && !host.empty() && IsLetter(host[0]) && host != "plt" &&
             (host.size() < kLeastHashBytes || !std::all_of(host.begin(), host.end(), IsHex));
    }
    const std::string_view top = host.substr(dot + 1);
    if (top == "service" || top == "scope" || top == "slice") return false;  // a cgroup of systemd
    return dot != 0 && std::none_of(top.begin(), top.end(), IsDigit);
  }

  bool TakeMail() {
    size_t local = at_ + Run(text_, at_, [](char c) {
                     return IsAlnum(c) || IsForeign(c) || IsOneOf(c, "._+-");
                   });
    const size_t sign = From(local, 1) == "@" ? 1 : From(local, 3) == "%40" ? 3 : 0;
    if (local == at_ || sign == 0) return false;
    const size_t domain = local + sign;
    size_t end = domain + Run(text_, domain, [](char c) {
                   return IsAlnum(c) || IsForeign(c) || c == '-' || c == '.';
                 });
    while (end > domain && !IsAlnum(text_[end - 1]) && !IsForeign(text_[end - 1])) --end;
    return IsHost(From(domain, end - domain), end) && Put(kMail, end - at_);
  }

  // "password=…", "Authorization: Bearer …", "user=…".
  bool TakeSecret() {
    const size_t word = Run(text_, at_, [](char c) { return IsAlnum(c) || IsOneOf(c, "_-"); });
    const std::string_view name = From(at_, word);
    const bool secret = IsSecret(name);
    if (!secret && !IsPersonal(name)) return false;
    size_t at = at_ + word;
    if (From(at, 1) == "\"" || From(at, 1) == "'") ++at;  // of JSON
    at += Run(text_, at, IsSpace);
    const bool assigned = From(at, 1) == "=" && From(at, 2) != "==";
    const bool told = secret && From(at, 1) == ":" && From(at, 2) != "::";
    if (!assigned && !told) return false;
    ++at;
    at += Run(text_, at, IsSpace);
    for (std::string_view scheme : {"bearer ", "basic ", "token "}) {
      if (StartsWithNoCase(text_.substr(std::min(at, text_.size())), scheme)) at += scheme.size();
    }
    size_t value = 0;
    if (has(at) && IsOneOf(text_[at], "\"'")) {
      const char quote = text_[at++];
      value = Run(text_, at, [quote](char c) { return c != quote; });
    } else {
      value = Run(text_, at, [](char c) { return !IsSpace(c) && !IsOneOf(c, "&;,)]}|\"'"); });
    }
    if (value == 0) return false;
    out_ += From(at_, at - at_);
    at_ = at;
    return Put(kRemoved, value);
  }

  // "doFrame 11096698", "vsyncId=11096698": numbers that other traces have, too.
  bool AfterFrame() const {
    if (at_ == 0 || !IsOneOf(text_[at_ - 1], " =")) return false;
    size_t begin = at_ - 1;
    while (begin > 0 && IsAlnum(text_[begin - 1])) --begin;
    const std::string_view word = From(begin, at_ - 1 - begin);
    return EndsWithNoCase(word, "frame") || EndsWithNoCase(word, "frames") ||
           EndsWithNoCase(word, "vsync") || EndsWithNoCase(word, "vsyncid");
  }

  // Digits with the separators that people write between them: "+49 (170) 123-4567".
  bool TakeNumber() {
    size_t at = at_;
    if (!IsDigit(text_[at]) && !IsOneOf(text_[at], "+(")) return false;
    size_t digits = 0, groups = 0, longest = 0, shortest = SIZE_MAX, end = at_;
    while (has(at)) {
      const size_t group = Run(text_, at, IsDigit);
      if (group != 0) {
        digits += group;
        longest = std::max(longest, group);
        if (end != at_ || text_[at_] != '+') shortest = std::min(shortest, group);
        groups += 1;
        at += group;
        end = at;
      } else if (const size_t between = Run(text_, at, [](char c) { return IsOneOf(c, " -.()+"); });
                 between != 0 && between <= 2) {
        at += between;
      } else {
        break;
      }
    }
    if (end == at_ || AfterFrame() || (has(end) && IsWord(text_[end])))
      return false;  // a word that begins with digits
    const bool formatted = digits >= kFormattedNumberDigits && groups >= 2 && shortest >= 2;
    if (longest < kLongNumberDigits && !formatted) return false;
    return Put(kNumber, end - at_);
  }

  bool TakeToken() {
    const size_t bytes = Run(text_, at_, [](char c) { return IsAlnum(c) || c == '_' || c == '-'; });
    if (bytes == 0) return false;
    if (IsMangled(From(at_, bytes))) return Put(From(at_, bytes), bytes);
    if (!IsToken(From(at_, bytes))) return false;
    // The rest of base64, and the parts of a signed one.
    const size_t more = Run(text_, at_, [](char c) { return IsAlnum(c) || IsOneOf(c, "_-+/=."); });
    return Put(kToken, more);
  }

  // "/a/b/c", "~/b/c", "C:\b\c". Names of directories may have a space.
  bool TakePath() {
    const bool drive = AtWordStart() && IsLetter(text_[at_]) && From(at_ + 1, 2) == ":\\";
    const bool share = From(at_, 2) == "\\\\";
    const bool windows = drive || share;
    const size_t root = drive ? 2 : From(at_, 2) == "~/" ? 1 : 0;
    if (!windows && From(at_ + root, 1) != "/") return false;
    if (at_ > 0 && (IsWord(text_[at_ - 1]) || IsOneOf(text_[at_ - 1], "./*>-"))) return false;
    const std::string_view separators = windows ? "\\/" : "/";
    const auto in_path = [](char c) { return !IsSpace(c) && !IsOneOf(c, "\"'<>|*?`;,)]}&:"); };
    const size_t begin = at_ + root;
    size_t end = begin + Run(text_, begin, in_path);
    for (size_t ahead = end, words = 0; words < 3 && has(ahead) && text_[ahead] == ' '; ++words) {
      const size_t word = Run(text_, ahead + 1, in_path);
      if (word == 0 || IsOneOf(text_[ahead + 1], separators)) break;
      ahead += 1 + word;
      if (From(ahead - word, word).find_first_of(separators) != std::string_view::npos) {
        end = ahead;
        words = 0;
      }
    }
    const std::string_view path = From(begin, end - begin);
    const std::string_view name = LastPart(path, separators);
    if (name.empty()) return false;
    const bool single = path.size() == name.size() + 1 && root == 0 && !windows;
    if (single) out_ += '/';
    PutName(root == 0 && IsOfTheSystem(path) ? path : name);
    at_ = end;
    return true;
  }

  // Literals only: the statement names tables and columns. Numbers if `all`: behind a statement
  // inside of a sentence, they are the sentence's.
  void CleanStatement(bool all) {
    const char c = text_[at_];
    if (c == '\'' || c == '"') {
      size_t end = at_ + 1;
      while (has(end) && (text_[end] != c || From(end + 1, 1) == From(at_, 1))) {
        end += text_[end] == c ? 2 : 1;
      }
      Put("?", std::min(end + 1, text_.size()) - at_);
    } else if (all && AtWordStart() && IsDigit(c)) {
      Put("?", Run(text_, at_, [](char d) { return IsWord(d) || d == '.'; }));
    } else if (!AtWordStart() || !(TakeUrl() || TakeMail() || TakeNumber() || TakeToken())) {
      TakeRest();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

// Whether there is anything to look for: most names have none of it.
bool MayBePrivate(std::string_view text) {
  size_t digits = 0;
  for (char c : text) {
    if (IsOneOf(c, "@/\\=:'\"%")) return true;
    digits += IsDigit(c) ? 1 : 0;
  }
  return digits >= kLongNumberDigits || text.size() >= kHexTokenBytes;
}

// Set once or twice in a process, and never freed: a sealing thread may be in it.
struct Filter {
  TextFilter function;  // null: none
  void* context;
  const Filter* before;
};

std::atomic<bool> g_clean{true};
std::atomic<const Filter*> g_filter{nullptr};

std::string Filtered(const Filter& filter, std::string_view text) {
  char out[kMostBytes];
  const size_t bytes = filter.function(filter.context, text.data(), text.size(), out, sizeof(out));
  return bytes <= sizeof(out) ? std::string(out, bytes) : std::string(kRemoved);
}

}  // namespace

std::string CleanedText(std::string_view text) {
  return MayBePrivate(text) ? TextCleaner(text).Clean() : std::string(text);
}

void SetTextFilter(TextFilter filter, void* context) {
  const Filter* before = g_filter.load(std::memory_order_acquire);
  g_filter.store(new Filter{filter, context, before}, std::memory_order_release);
}

void CleanTexts(bool on) { g_clean.store(on, std::memory_order_relaxed); }

bool TextsAreCleaned() { return g_clean.load(std::memory_order_relaxed); }

std::string SealedText(std::string_view text, size_t max_bytes) {
  const std::string_view head = text.substr(0, kMostBytes);
  std::string sealed = TextsAreCleaned() ? CleanedText(head) : std::string(head);
  const Filter* filter = g_filter.load(std::memory_order_acquire);
  if (filter != nullptr && filter->function != nullptr) {
    sealed = Filtered(*filter, std::string_view(sealed).substr(0, kMostBytes));
  }
  return ToValidUtf8(sealed, max_bytes);
}

}  // namespace jankbox
