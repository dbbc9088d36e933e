package dev.jankbox;

/** What the native side calls to send a report: the transport of an app, see jankbox/upload.h. */
final class Uploads {
    private Uploads() {}

    /** On Jankbox's uploading thread. Passes the response to `post` before it returns; throws nothing. */
    static void post(final long post, String url, String contentType, String userAgent, int fd, long bytes,
            int connectMs, int totalMs) {
        HttpPost.Reply reply;
        try {
            // A descriptor of its own, so that the offset of `fd` stays.
            HttpPost http = new HttpPost(url, "/proc/self/fd/" + fd, bytes);
            http.setHeaders(contentType, userAgent);
            http.setTimeouts(connectMs, totalMs);
            reply = http.send(new HttpPost.Cancellation() {
                @Override
                public boolean isWanted() {
                    return Native.postCancelled(post);
                }
            });
        } catch (Throwable failure) {
            reply = HttpPost.Reply.failed(failure);
        }
        if (reply.error != null) {
            Native.failPost(post, reply.error);
        } else {
            Native.answerPost(post, reply.status, reply.retryAfter, reply.body, reply.bodyBytes);
        }
    }
}
