// Transport over libcurl: http and https only, certificates checked, no redirects, bounded in time
// and size. Streams the body from the file. One connection is kept between posts. Allocates; blocks
// up to the request's timeout; leaves the process's signals alone.
#ifndef JANKBOX_UPLOADER_TRANSPORT_CURL_TRANSPORT_H_
#define JANKBOX_UPLOADER_TRANSPORT_CURL_TRANSPORT_H_

#include <memory>

#include "base/status.h"
#include "uploader/transport/transport.h"

namespace jankbox {

// kUnavailable if libcurl cannot be loaded.
Result<std::unique_ptr<Transport>> NewCurlTransport();

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_CURL_TRANSPORT_H_
