/* bionic's __write_chk, which glibc does not have. */
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t __write_chk(int fd, const void* bytes, size_t size, size_t room) {
  if (size > room) abort();
  return write(fd, bytes, size);
}
