// Where the reports of a group went when the functions of its reports got names. Links to a group
// go on working by it. Within a transaction of the caller's; blocks on the disk.
#ifndef JANKBOX_COLLECTOR_GROUP_MOVES_H_
#define JANKBOX_COLLECTOR_GROUP_MOVES_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "collector/database.h"

namespace jankbox::collector {

struct ResolvedGroup {
  // The key itself if a report has it, else those of the groups that its reports are in now; the
  // key itself, too, if none is known.
  std::vector<std::string> keys;
  // Groups that reports of the key went to, while others have it still.
  std::vector<std::string> moved_to;
};

Status ResolveGroup(Database* database, const std::string& key, ResolvedGroup* resolved);

// From one transaction to the next a report goes from a group to another. Seen once `naming` is
// shown.
Status NoteMove(Database* database, const std::string& from, const std::string& to, int64_t naming);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_GROUP_MOVES_H_
