#include "sdk/api/app_transport.h"

#include <fcntl.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "base/scoped_fd.h"
#include "sdk/api/app_thread.h"

namespace jankbox {
namespace {

Mutex g_mutex;
jankbox_transport g_transport GUARDED_BY(g_mutex);
void* g_context GUARDED_BY(g_mutex);

std::atomic<int> g_network{JANKBOX_NETWORK_FREE};
std::atomic<bool> g_declined{false};

struct Post : jankbox_post {
  const std::atomic<bool>* cancelled = nullptr;
};

int IsCancelled(const jankbox_post* post) {
  const std::atomic<bool>* cancelled = static_cast<const Post*>(post)->cancelled;
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed) ? 1 : 0;
}

std::string TextOf(const char* field, size_t size) { return {field, strnlen(field, size)}; }

class AppTransport : public Transport {
 public:
  AppTransport(jankbox_transport transport, void* context)
      : transport_(transport), context_(context) {}

  TransportReply Post(const UploadRequest& request) override {
    jankbox::Post post{};
    post.size = sizeof(jankbox_post);
    post.fd = request.fd;
    post.body_bytes = request.size_bytes;
    post.url = request.url.c_str();
    post.content_type = request.content_type;
    post.user_agent = "jankbox/" JANKBOX_VERSION;
    post.connect_timeout_ms = request.connect_timeout_ms;
    post.total_timeout_ms = request.total_timeout_ms;
    post.is_cancelled = IsCancelled;
    post.cancelled = request.cancelled;
    std::string body(kMaxReplyBytes, '\0');
    jankbox_reply reply{};
    reply.size = sizeof(reply);
    reply.body = body.data();
    reply.body_capacity = kMaxReplyBytes;
    AppThread::ForTransport().Run([&, tid = CurrentTid()] { PostHere(tid, &post, &reply); });
    if (reply.http_status <= 0) return {.error = TextOf(reply.error, sizeof(reply.error))};
    if (reply.body_bytes > kMaxReplyBytes) return {.error = "the response is larger than 64 KiB"};
    body.resize(reply.body_bytes);
    return {.http_status = reply.http_status,
            .body = body,
            .retry_after = TextOf(reply.retry_after, sizeof(reply.retry_after))};
  }

 private:
  // Thread `tid` has the body open.
  void PostHere(int tid, jankbox::Post* post, jankbox_reply* reply) const {
    ScopedFd body;
    if (tid != CurrentTid()) {  // and under a number of its own table
      const std::string path =
          "/proc/self/task/" + std::to_string(tid) + "/fd/" + std::to_string(post->fd);
      body = ScopedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      post->fd = body.get();
      if (!body.valid()) {
        snprintf(reply->error, sizeof(reply->error), "the report cannot be opened again");
        return;
      }
    }
    transport_(context_, post, reply);
  }

  const jankbox_transport transport_;
  void* const context_;
};

}  // namespace

void SetAppTransport(jankbox_transport transport, void* context) {
  MutexLock lock(&g_mutex);
  g_transport = transport;
  if (transport != nullptr) AppThread::ForTransport().Expect();
  g_context = context;
}

std::unique_ptr<Transport> NewAppTransport() {
  MutexLock lock(&g_mutex);
  if (g_transport == nullptr) return nullptr;
  return std::make_unique<AppTransport>(g_transport, g_context);
}

void SetUploadNetwork(int network) {
  const bool known = network == JANKBOX_NETWORK_FREE || network == JANKBOX_NETWORK_OFF;
  g_network.store(known ? network : JANKBOX_NETWORK_METERED, std::memory_order_relaxed);
}

int UploadNetwork() { return g_network.load(std::memory_order_relaxed); }

void SetUploadAllowed(bool allowed) { g_declined.store(!allowed, std::memory_order_relaxed); }

bool UploadDeclined() { return g_declined.load(std::memory_order_relaxed); }

}  // namespace jankbox
