#include "uploader/transport/curl_library.h"

#include <dlfcn.h>

#include <string>

namespace jankbox {
namespace {

// Debian and its like; a private build or Android; Debian's GnuTLS build.
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};

// Whether malloc is not libc's own (jemalloc, tcmalloc, a sanitizer).
bool MallocIsReplaced() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return true;
  const bool replaced = dlsym(libc, "malloc") != dlsym(RTLD_DEFAULT, "malloc");
  dlclose(libc);
  return replaced;
}

int LoadFlags() {
  int flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  // Its own OpenSSL and zlib, not the host's of another version. With a replaced malloc it would
  // free with libc what the replacement allocated.
  if (!MallocIsReplaced()) flags |= RTLD_DEEPBIND;
#endif
  return flags;
}

template <typename Function>
bool Resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

Result<const CurlLibrary*> LoadOnce() {
  static CurlLibrary curl;
  void* library = nullptr;
  for (const char* name : kNames) {
    library = dlopen(name, LoadFlags());
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return Status(StatusCode::kUnavailable, "libcurl.so.4 is not installed: nothing is uploaded");
  }
  const bool resolved = Resolve(library, "curl_global_init", &curl.global_init) &&
                        Resolve(library, "curl_easy_init", &curl.easy_init) &&
                        Resolve(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
                        Resolve(library, "curl_easy_setopt", &curl.easy_setopt) &&
                        Resolve(library, "curl_easy_perform", &curl.easy_perform) &&
                        Resolve(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
                        Resolve(library, "curl_easy_strerror", &curl.easy_strerror) &&
                        Resolve(library, "curl_slist_append", &curl.slist_append) &&
                        Resolve(library, "curl_slist_free_all", &curl.slist_free_all);
  if (!resolved || curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    return Status(StatusCode::kUnavailable, "libcurl is of an unknown kind: nothing is uploaded");
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
