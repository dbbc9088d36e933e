// When a file was created. No program can set that time, so a copy of a file, or one that was
// restored from a backup, has another one than the file that it was made from. Any thread; one
// system call.
#ifndef JANKBOX_UPLOADER_COUNTS_FILE_BIRTH_H_
#define JANKBOX_UPLOADER_COUNTS_FILE_BIRTH_H_

#include <cstdint>

namespace jankbox {

// CLOCK_REALTIME in ns; 0 if the file system or the kernel does not keep it.
uint64_t FileBirthNs(int fd);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_FILE_BIRTH_H_
