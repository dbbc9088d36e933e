// Reads, writes, syncs, opens and closes of watched threads: what is done, on what class of
// descriptor, how many bytes; never a path or a buffer. See tracer/hook/hook_use.h. write,
// __write_chk and writev are those of the markers' proxies, which open a WaitScope themselves.
#ifndef JANKBOX_TRACER_INTERPOSE_IO_PROXIES_H_
#define JANKBOX_TRACER_INTERPOSE_IO_PROXIES_H_

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "tracer/hook/hook_use.h"

namespace jankbox {

std::span<const HookUse> IoHooks();

// Bytes of a vector as its caller gave it, for readv and writev; 0 if the kernel refuses the
// count anyway. A vector that is not there is the kernel's to refuse too: it is asked through
// process_vm_readv, one system call.
size_t BytesOf(const iovec* vectors, int count);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_IO_PROXIES_H_
