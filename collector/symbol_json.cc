#include "collector/symbol_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "collector/json_views.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

std::string SymbolText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json FileToJson(const SymbolFile& file) {
  json object = {{"bytes", file.bytes},
                 {"uploaded", file.uploaded},
                 {"received_at", Rfc3339(file.received_at_ms)},
                 {"reports", file.reports},
                 {"problem", file.problem}};
  if (IsMappingKey(file.key)) {
    object["contents"] = "mapping";
    object["app"] = file.app;
    object["app_version"] = file.app_version;
  } else {
    object["contents"] = file.contents == ElfContents::kDebugInfo ? "debug info" : "symbols";
    object["build_id"] = file.key;
  }
  return object;
}

json FilesToJson(const std::vector<SymbolFile>& files) {
  json array = json::array();
  for (const SymbolFile& file : files) array.push_back(FileToJson(file));
  return array;
}

const char* ResultText(PutOutcome::Result result) {
  switch (result) {
    case PutOutcome::Result::kStored:
      return "stored";
    case PutOutcome::Result::kDuplicate:
      return "duplicate";
    case PutOutcome::Result::kKept:
      return "kept";
  }
  return "";
}

}  // namespace

std::string SymbolFilesJson(const std::vector<SymbolFile>& files) {
  return SymbolText({{"symbols", FilesToJson(files)}});
}

std::string SymbolsJson(const std::vector<SymbolFile>& files,
                        const std::vector<MissingSymbols>& missing, const PendingNaming& pending) {
  json array = json::array();
  for (const MissingSymbols& symbols : missing) {
    array.push_back(
        {{"build_id", symbols.build_id}, {"module", symbols.module}, {"reports", symbols.reports}});
  }
  return SymbolText({{"symbols", FilesToJson(files)},
                     {"missing", std::move(array)},
                     {"pending", {{"reports", pending.reports}, {"traces", pending.traces}}}});
}

std::string ReceivedSymbolsJson(const ReceivedSymbols& received) {
  json object = FileToJson(received.file);
  object["result"] = ResultText(received.result);
  return SymbolText(object);
}

}  // namespace jankbox::collector
