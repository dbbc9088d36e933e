#include "uploader/transport/curl_transport.h"

namespace jankbox {

// Android has no libcurl for apps: what is uploaded goes through the platform's own HTTP client.
Result<std::unique_ptr<Transport>> NewCurlTransport() {
  return Status(StatusCode::kUnavailable, "libcurl is not available on this platform");
}

}  // namespace jankbox
