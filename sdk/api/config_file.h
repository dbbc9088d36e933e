// A file that a team changes while programs run: lines "slow_message_ms = 300", "#" starts a
// comment. It takes the options of the table that may change while recording. Sealing thread;
// touches the disk.
#ifndef JANKBOX_SDK_API_CONFIG_FILE_H_
#define JANKBOX_SDK_API_CONFIG_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {

// What the file asks for; fields that it does not name are unset. kInvalidArgument names the line.
Result<jankbox_options> ParseConfig(std::string_view text);

class ConfigFile {
 public:
  // An empty path: there is none.
  explicit ConfigFile(std::string path) : path_(std::move(path)) {}

  bool exists() const { return !path_.empty(); }

  // Its content where that is new, empty where it is as before or gone.
  std::optional<Result<jankbox_options>> Look();

 private:
  const std::string path_;
  FileIdentity seen_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_CONFIG_FILE_H_
