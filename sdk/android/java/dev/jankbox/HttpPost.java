package dev.jankbox;

import android.net.TrafficStats;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One POST of a file through HttpURLConnection: the platform's certificates, proxies and network security configuration
 * hold. Redirects are answers, answers are taken as they come. The exchange runs on a thread of its own, so that
 * whoever sends is not held up where the platform cannot be interrupted (a look-up of the host's name).
 */
final class HttpPost {
    static final int MAX_REPLY_BYTES = 64 << 10; // transport.h

    private static final int CHUNK_BYTES = 16 << 10;
    private static final int TRAFFIC_TAG = 0x6a616e6b; // "jank", in the platform's network statistics
    private static final long LOOK_MS = 100; // at the clock and at who wants it cancelled

    /** Asked now and then. */
    interface Cancellation {
        boolean isWanted();
    }

    static final class Reply {
        int status;
        String retryAfter;
        byte[] body = new byte[0];
        int bodyBytes;
        String error; // null: the other fields are valid

        static Reply failed(Throwable why) {
            Reply reply = new Reply();
            String message = why.getMessage();
            String kind = why.getClass().getSimpleName();
            reply.error = message == null ? kind : kind + ": " + message;
            return reply;
        }
    }

    private final String url;
    private final String path;
    private final long bytes;
    private String contentType = "application/octet-stream";
    private String userAgent = "jankbox";
    private int connectMs = 5_000;
    private int totalMs = 30_000;

    HttpPost(String url, String path, long bytes) {
        this.url = url;
        this.path = path;
        this.bytes = bytes;
    }

    void setHeaders(String contentType, String userAgent) {
        this.contentType = contentType;
        this.userAgent = userAgent;
    }

    void setTimeouts(int connectMs, int totalMs) {
        this.totalMs = Math.max(totalMs, 1); // 0 is for ever there
        this.connectMs = Math.max(Math.min(connectMs, totalMs), 1);
    }

    /** Returns within the time that was set, and a little more. */
    Reply send(Cancellation cancellation) throws IOException {
        final long endNs = System.nanoTime() + totalMs * 1_000_000L;
        FileInputStream file = new FileInputStream(path);
        HttpURLConnection connection;
        try {
            connection = open();
        } catch (IOException | RuntimeException failure) {
            file.close();
            throw failure;
        }
        Exchange exchange = new Exchange(connection, file);
        exchange.start();
        while (!exchange.isDone(LOOK_MS)) {
            String why = cancellation.isWanted() ? "cancelled" : System.nanoTime() - endNs > 0 ? "out of time" : null;
            if (why == null) continue;
            exchange.abandon();
            return Reply.failed(new IOException(why));
        }
        return exchange.reply;
    }

    private HttpURLConnection open() throws IOException {
        URLConnection opened = new URL(url).openConnection();
        if (!(opened instanceof HttpURLConnection)) throw new IOException(url + ": not an http or https address");
        HttpURLConnection connection = (HttpURLConnection) opened;
        connection.setConnectTimeout(connectMs);
        connection.setReadTimeout(totalMs);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setDoOutput(true);
        connection.setRequestMethod("POST");
        connection.setRequestProperty("Content-Type", contentType);
        connection.setRequestProperty("User-Agent", userAgent);
        connection.setRequestProperty("Accept-Encoding", "identity"); // Android would take gzip, and unpack it
        connection.setFixedLengthStreamingMode(bytes); // and is not sent a second time
        return connection;
    }

    private final class Exchange extends Thread {
        private final HttpURLConnection connection;
        private final InputStream file;
        private final CountDownLatch done = new CountDownLatch(1);
        private Reply reply; // before `done`

        Exchange(HttpURLConnection connection, InputStream file) {
            super("jankbox-http");
            this.connection = connection;
            this.file = file;
            setDaemon(true);
        }

        boolean isDone(long waitMs) {
            try {
                return done.await(waitMs, TimeUnit.MILLISECONDS);
            } catch (InterruptedException goOn) {
                return false;
            }
        }

        /** From another thread: closes the connection, if there is one, so that this one ends. */
        void abandon() {
            try {
                connection.disconnect();
            } catch (RuntimeException itEndsByItself) {
                // its time-outs are set
            }
        }

        @Override
        public void run() {
            TrafficStats.setThreadStatsTag(TRAFFIC_TAG);
            try {
                sendBody();
                reply = receive();
            } catch (Throwable failure) {
                reply = Reply.failed(failure);
            } finally {
                close(file);
                done.countDown();
            }
        }

        private void sendBody() throws IOException {
            byte[] chunk = new byte[CHUNK_BYTES];
            OutputStream out = connection.getOutputStream();
            for (int n = file.read(chunk); n > 0; n = file.read(chunk)) out.write(chunk, 0, n);
            out.close(); // throws if the file was shorter than it was said to be
        }

        private Reply receive() throws IOException {
            Reply answer = new Reply();
            try {
                answer.status = connection.getResponseCode();
            } catch (HttpRetryException wouldSendAgain) {
                answer.status = wouldSendAgain.responseCode();
                return answer;
            }
            if (answer.status <= 0) throw new IOException("the answer is not HTTP");
            answer.retryAfter = connection.getHeaderField("Retry-After");
            InputStream in = answer.status >= 400 ? connection.getErrorStream() : connection.getInputStream();
            if (in != null) readBody(in, answer);
            return answer;
        }

        private void readBody(InputStream in, Reply answer) throws IOException {
            byte[] body = new byte[MAX_REPLY_BYTES + 1];
            int size = 0;
            for (int n = 0; n >= 0 && size < body.length; n = in.read(body, size, body.length - size)) size += n;
            if (size > MAX_REPLY_BYTES) {
                connection.disconnect();
                throw new IOException("the answer is larger than 64 KiB");
            }
            String length = connection.getHeaderField("Content-Length");
            boolean whole = length == null || length.trim().equals(Integer.toString(size));
            if (!whole) throw new IOException("the answer is cut");
            close(in);
            answer.body = body;
            answer.bodyBytes = size;
        }

        private void close(InputStream stream) {
            try {
                stream.close();
            } catch (IOException nothingLost) {
                // what was read is there
            }
        }
    }
}
