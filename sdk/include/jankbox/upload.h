/* How Jankbox uploads reports and counts to jankbox_options.upload_url: with an HTTP client of the
 * app instead of libcurl, how much the network allows, whether the user does, which texts, and
 * under which ids. C. */
#ifndef JANKBOX_UPLOAD_H_
#define JANKBOX_UPLOAD_H_

#include <stddef.h>

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One HTTP POST request. Valid during the call of the transport only. */
typedef struct jankbox_post {
  /* sizeof(jankbox_post) in the library; do not read fields beyond it. */
  uint32_t size;
  /* The file that is the body, from offset 0 to body_bytes. Read it with pread(): its offset must
   * not change. Do not close it. */
  int fd;
  uint64_t body_bytes;
  /* http:// or https:// */
  const char* url;
  /* The values of the headers Content-Type and User-Agent. */
  const char* content_type;
  const char* user_agent;
  uint32_t connect_timeout_ms;
  /* The transport must return within this time. */
  uint32_t total_timeout_ms;
  /* Returns 1 if jankbox_stop() waits for the transport: it should then return soon, with
   * http_status 0. Any thread. */
  int (*is_cancelled)(const struct jankbox_post* post);
} jankbox_post;

/* The reply, which the transport fills in. Jankbox sets size, body and body_capacity; the rest is
 * 0. Texts end with a NUL. */
typedef struct jankbox_reply {
  /* sizeof(jankbox_reply) in the library; do not write fields beyond it. */
  uint32_t size;
  /* The status, as received: do not follow redirects. 0 if no complete reply arrived. */
  int32_t http_status;
  /* A buffer of body_capacity bytes (64 KiB) for the body, as received, not decompressed. If the
   * body is longer, set http_status 0. */
  char* body;
  uint32_t body_capacity;
  /* How many bytes of the buffer the transport wrote. */
  uint32_t body_bytes;
  /* The value of the header Retry-After; "" if there is none. */
  char retry_after[64];
  /* If http_status is 0: why, as a sentence for jankbox_last_error(). */
  char error[192];
} jankbox_reply;

/* Sends `post` and fills in `reply`. Jankbox calls it on a thread for transports, one post at a
 * time; it may block. The transport verifies certificates. `context` is that of
 * jankbox_set_transport(). */
typedef void (*jankbox_transport)(void* context, const jankbox_post* post, jankbox_reply* reply);

/* Uploads through `transport` from the next post on; NULL: through libcurl, which Jankbox loads
 * when it first uploads (Android has none). `context` must stay valid until the process ends. Call
 * it before jankbox_start(), so that no post precedes it. */
JANKBOX_API void jankbox_set_transport(jankbox_transport transport, void* context);

/* How much Jankbox may upload. */
enum {
  /* 5 MiB a day. The initial state. */
  JANKBOX_NETWORK_FREE = 0,
  /* 1 MiB a day. */
  JANKBOX_NETWORK_METERED = 1,
  /* Nothing: there is no network, or the battery is low. Reports stay in their folder. */
  JANKBOX_NETWORK_OFF = 2
};

/* Sets how much Jankbox may upload from now on: JANKBOX_NETWORK_…; other numbers mean METERED. A
 * change from OFF starts the upload of the reports that wait. Kept over jankbox_start(). */
JANKBOX_API void jankbox_set_network(int network);

/* Sets whether the user agrees that reports leave the device (not 0; the initial state). 0: nothing
 * is sent any more, and within a second every report and count that waits in the folder is removed.
 * Incidents until the user agrees are neither written nor counted, so that they are never sent.
 * Kept over jankbox_start(), but not by the folder: call it before each jankbox_start(), which else
 * writes the reports of earlier processes. */
JANKBOX_API void jankbox_set_upload(int allowed);

/* An app's own rule for its texts: writes what may leave the device of `text` to `out` and returns
 * its length in bytes, which is text_bytes if nothing is changed. A length above `capacity` removes
 * the text as a whole. `text` has at most `capacity` bytes (1024), need not end with a NUL, and has
 * passed Jankbox's rules (jankbox_options.texts). Called on one of Jankbox's threads for every
 * text of a report that is being written. It must neither call Jankbox nor use a descriptor: on
 * Linux those of the app are not open there. */
typedef size_t (*jankbox_text_filter)(void* context, const char* text, size_t text_bytes, char* out,
                                      size_t capacity);

/* Passes all texts from now on through `filter`; NULL: through none. `context` must stay valid
 * until the process ends. Any thread. Call it before jankbox_start(), which writes the reports of
 * earlier processes. */
JANKBOX_API void jankbox_set_text_filter(jankbox_text_filter filter, void* context);

/* Gives this installation another random id, and the counts of its incidents another epoch: nothing
 * that is sent from then on has an id that was sent before. Counts that were not sent yet go out
 * under the old ids. Takes effect after this returns; jankbox_flush() waits for it.
 *
 * Errors: JANKBOX_NOT_RUNNING. */
JANKBOX_API jankbox_status jankbox_reset_installation_id(void);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_UPLOAD_H_ */
