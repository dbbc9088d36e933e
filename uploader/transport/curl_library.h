// libcurl's functions, loaded at the first upload: an app that uploads nothing does not carry it.
// Loaded once, apart from the host's symbols, and never unloaded. Jankbox's own threads.
#ifndef JANKBOX_UPLOADER_TRANSPORT_CURL_LIBRARY_H_
#define JANKBOX_UPLOADER_TRANSPORT_CURL_LIBRARY_H_

#define CURL_DISABLE_TYPECHECK  // its macros would call the functions by name
#include <curl/curl.h>

#include "base/status.h"

namespace jankbox {

struct CurlLibrary {
  // kBusy if there is no memory for it now, kUnavailable if it cannot be loaded.
  static Result<const CurlLibrary*> Load();

  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_CURL_LIBRARY_H_
