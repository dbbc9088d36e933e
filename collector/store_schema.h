// The tables of the collector's SQLite file, and how those of earlier collectors become them.
// Called once, when the file is opened; blocks on the disk.
#ifndef JANKBOX_COLLECTOR_STORE_SCHEMA_H_
#define JANKBOX_COLLECTOR_STORE_SCHEMA_H_

#include <string>

#include "base/status.h"
#include "collector/database.h"

namespace jankbox::collector {

inline constexpr int kSchemaVersion = 5;

// Makes the tables, or migrates them in one transaction. kUnsupported: a newer collector wrote
// them. `path`: for the message.
Status PrepareSchema(Database* database, const std::string& path);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_STORE_SCHEMA_H_
