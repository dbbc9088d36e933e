/* Writes go through __write_chk, as those of libcutils do if bionic's checks are compiled in. */
#ifndef JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_WRITE_CHK_H_
#define JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_WRITE_CHK_H_

#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C"
#endif
    ssize_t
    __write_chk(int fd, const void* bytes, size_t size, size_t room);

#define write(fd, bytes, size) __write_chk(fd, bytes, size, __builtin_object_size(bytes, 0))

#endif
