// Writes and syncs a file until it is ended: fsync_storm FOLDER.
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string path = std::string(argv[1]) + "/storm";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> piece(256u << 10, 'x');
  constexpr off_t kFileBytes = 64 << 20;
  for (off_t at = 0; file >= 0; at = (at + static_cast<off_t>(piece.size())) % kFileBytes) {
    if (pwrite(file, piece.data(), piece.size(), at) < 0 || fsync(file) != 0) return 1;
  }
  return 1;
}
