/* How and when reports travel to the collector: by an HTTP client of the app's own in place of
 * libcurl, and as the network allows. C. */
#ifndef JANKBOX_UPLOAD_H_
#define JANKBOX_UPLOAD_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One report to POST. All of it lives during the call alone. */
typedef struct jankbox_post {
  uint32_t size;       /* sizeof(jankbox_post) of the library */
  int fd;              /* the body, from its beginning: pread() it, so that its offset stays */
  uint64_t body_bytes; /* its whole length */
  const char* url;     /* http or https */
  const char* content_type;
  const char* user_agent;
  uint32_t connect_timeout_ms;
  uint32_t total_timeout_ms; /* the call returns within it */
  /* Not 0 where the post should end at once, without an answer: Jankbox stops. Any thread. */
  int (*is_cancelled)(const struct jankbox_post* post);
} jankbox_post;

/* What came back; zeros as it is given. Texts end with a NUL. */
typedef struct jankbox_reply {
  uint32_t size;          /* sizeof(jankbox_reply) of the library */
  int32_t http_status;    /* redirects too: they are not followed; 0: no whole answer */
  char* body;             /* room for the answer's body, as it came: not decompressed */
  uint32_t body_capacity; /* 64 KiB; a longer answer is none */
  uint32_t body_bytes;
  char retry_after[64]; /* the header as it came, "" without */
  char error[192];      /* why there is no answer */
} jankbox_reply;

/* Posts, and fills in `reply`. Called on Jankbox's uploading thread, one post at a time; may block.
 * Certificates are the transport's to check. */
typedef void (*jankbox_transport)(void* context, const jankbox_post* post, jankbox_reply* reply);

/* What is uploaded goes through `transport` from the next post on; NULL: through libcurl, which
 * Android does not have. What `context` points at stays for good. Best before jankbox_start. */
JANKBOX_API void jankbox_set_transport(jankbox_transport transport, void* context);

/* What the network is good for. */
enum {
  JANKBOX_NETWORK_FREE = 0,    /* 5 MiB a day, as it is until told otherwise */
  JANKBOX_NETWORK_METERED = 1, /* 1 MiB a day */
  JANKBOX_NETWORK_OFF = 2      /* reports stay in their folder: no network, or power is short */
};

/* Says what holds from now on; other numbers are METERED. Where it was OFF, what waits is tried.
 * Any thread, also before start. */
JANKBOX_API void jankbox_set_network(int network);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_UPLOAD_H_ */
