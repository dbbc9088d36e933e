#include "uploader/transport/curl_library.h"

#include <dlfcn.h>

#include <atomic>
#include <string>

#include "base/mutex.h"
#include "base/private_library.h"

namespace jankbox {
namespace {

// Debian and its like; a private build or Android; Debian's GnuTLS build.
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl.so", "libcurl-gnutls.so.4"};

Mutex g_loading;
// Never freed: an upload may outlive main().
constinit std::atomic<const CurlLibrary*> g_loaded{nullptr};
bool g_refused GUARDED_BY(g_loading) = false;  // older ones say that they are ready at the next try

Result<const CurlLibrary*> LoadNow() REQUIRES(g_loading) {
  CurlLibrary curl;
  void* library = nullptr;
  std::string reason;
  for (const char* name : kNames) {
    library = OpenPrivateLibrary(name);
    if (library != nullptr) break;
    const char* error = dlerror();
    if (reason.empty() && error != nullptr) reason = error;  // of the usual name
  }
  if (library == nullptr && NoMemoryForLibrary()) {
    return Status(StatusCode::kBusy, "libcurl cannot be loaded: no memory");
  }
  if (library == nullptr) {
    return Status(StatusCode::kUnavailable, "libcurl cannot be loaded: " + reason);
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
  g_refused = g_refused || !resolved || curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK;
  if (g_refused) {
    return Status(StatusCode::kUnavailable, "libcurl lacks required functions, or memory");
  }
  return new CurlLibrary(curl);
}

}  // namespace

Result<const CurlLibrary*> CurlLibrary::Load() {
  if (const CurlLibrary* loaded = g_loaded.load(std::memory_order_acquire)) return loaded;
  MutexLock lock(&g_loading);
  if (const CurlLibrary* loaded = g_loaded.load(std::memory_order_acquire)) return loaded;
  Result<const CurlLibrary*> now = LoadNow();
  if (now.ok()) g_loaded.store(now.value(), std::memory_order_release);
  return now;
}

}  // namespace jankbox
