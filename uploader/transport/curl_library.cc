#include "uploader/transport/curl_library.h"

#include <string>

#include "base/private_library.h"

namespace jankbox {
namespace {

// Debian and its like; a private build or Android; Debian's GnuTLS build.
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};

Result<const CurlLibrary*> LoadOnce() {
  static CurlLibrary curl;
  void* library = nullptr;
  for (const char* name : kNames) {
    library = OpenPrivateLibrary(name);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return Status(StatusCode::kUnavailable,
                  "libcurl.so.4 is not installed: reports are not uploaded");
  }
  const bool resolved = BindSymbol(library, "curl_global_init", &curl.global_init) &&
                        BindSymbol(library, "curl_easy_init", &curl.easy_init) &&
                        BindSymbol(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
                        BindSymbol(library, "curl_easy_setopt", &curl.easy_setopt) &&
                        BindSymbol(library, "curl_easy_perform", &curl.easy_perform) &&
                        BindSymbol(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
                        BindSymbol(library, "curl_easy_strerror", &curl.easy_strerror) &&
                        BindSymbol(library, "curl_slist_append", &curl.slist_append) &&
                        BindSymbol(library, "curl_slist_free_all", &curl.slist_free_all);
  if (!resolved || curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    return Status(StatusCode::kUnavailable,
                  "libcurl lacks required functions: reports are not uploaded");
  }
  return &curl;
}

}  // namespace

Result<const CurlLibrary*> CurlLibrary::Load() {
  // Never destroyed: an upload may outlive main().
  static const auto* loaded = new Result<const CurlLibrary*>(LoadOnce());
  return *loaded;
}

}  // namespace jankbox
