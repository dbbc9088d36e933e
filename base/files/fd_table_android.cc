#include "base/files/fd_table.h"

namespace jankbox {

AppFd::AppFd(int fd) : fd_(fd) {}
AppFd::~AppFd() = default;

}  // namespace jankbox
