package dev.jankbox;

/**
 * One post through HttpPost: HttpProbe URL FILE BYTES CONNECT_MS TOTAL_MS CANCEL_AFTER_MS. Prints what came back, a line each:
 * its time first, the body's length and first 100 characters last.
 */
public final class HttpProbe {
    private HttpProbe() {}

    public static void main(String[] arguments) throws Exception {
        HttpPost post = new HttpPost(arguments[0], arguments[1], Long.parseLong(arguments[2]));
        post.setHeaders("application/x-perfetto-trace", "jankbox/test");
        post.setTimeouts(Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
        final long beganNs = System.nanoTime();
        final long cancelNs = Long.parseLong(arguments[5]) * 1_000_000;
        HttpPost.Reply reply;
        try {
            reply = post.send(new HttpPost.Cancellation() {
                @Override
                public boolean isWanted() {
                    return System.nanoTime() - beganNs > cancelNs;
                }
            });
        } catch (Exception failure) {
            reply = HttpPost.Reply.failed(failure);
        }
        System.out.println((System.nanoTime() - beganNs) / 1_000_000);
        System.out.println(reply.status);
        System.out.println(reply.error == null ? "" : reply.error);
        System.out.println(reply.retryAfter == null ? "" : reply.retryAfter);
        System.out.println(reply.bodyBytes);
        System.out.println(new String(reply.body, 0, Math.min(reply.bodyBytes, 100), "ISO-8859-1"));
        System.exit(0); // also if the exchange was abandoned
    }
}
