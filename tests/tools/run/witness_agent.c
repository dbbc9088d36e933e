/* Preloaded in place of the agent: says over the run's socket, as an agent does, each line of
 * $WITNESS_ERRORS from every process that it is loaded into. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void Send(int fd, const struct sockaddr_un* to, socklen_t length, const char* text,
                 size_t n) {
  (void)!sendto(fd, text, n, MSG_DONTWAIT, (const struct sockaddr*)to, length);
}

__attribute__((constructor)) static void Tell(void) {
  const char* name = getenv("JANKBOX_RUN_SOCKET");
  const char* errors = getenv("WITNESS_ERRORS");
  if (name == NULL || errors == NULL) return;
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  const size_t size = strlen(name);
  if (size + 1 > sizeof(to.sun_path)) return;
  memcpy(to.sun_path + 1, name, size);
  const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  while (*errors != '\0') {
    const size_t n = strcspn(errors, "\n");
    Send(fd, &to, length, errors, n);
    errors += n + (errors[n] == '\n');
  }
  close(fd);
}
