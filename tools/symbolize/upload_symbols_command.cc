#include "tools/symbolize/upload_symbols_command.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "symbolize/debug_files.h"
#include "symbolize/symbol_lookup.h"
#include "tools/reports/http_get.h"
#include "tools/reports/json_field.h"
#include "tools/symbolize/symbol_post.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/progress_line.h"
#include "tools/terminal/table.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxAnswerBytes = 4 << 20;
constexpr size_t kShownIdDigits = 12;

std::string Megabytes(uint64_t bytes) {
  char text[32];
  snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

class Uploading {
 public:
  explicit Uploading(const UploadSymbolsOptions& options)
      : options_(options), url_(options.url.substr(0, options.url.find_last_not_of('/') + 1)) {}

  void Run() {
    if (!options_.app.empty()) return SendMapping();
    for (const std::string& path : options_.paths) AddPath(path);
    Identify();
    for (const auto& [build_id, elf] : chosen_) {
      if (unreachable_) break;
      if (options_.force || !IsPresent(elf)) Send(elf.path, "");
    }
    if (chosen_.empty() && problems_.empty()) Fail("there is no file with symbols to send");
  }

  bool ok() const { return problems_.empty(); }

  json ToJson() const {
    return {{"uploaded", uploaded_}, {"skipped", skipped_}, {"problems", problems_}};
  }

  std::string Render(const TextStyle& style) const {
    Table table({{"FILE", 16},
                 {"BUILD ID", 8, 1},
                 {"SYMBOLS", 0},
                 {"SIZE", 0, 2, true},
                 {"REPORTS", 0, 3, true},
                 {"RESULT", 0}});
    for (const json& file : uploaded_) {
      const std::string id =
          file.contains("build_id")
              ? file.at("build_id").get<std::string>()
              : file.at("app").get<std::string>() + " " + file.at("app_version").get<std::string>();
      const std::string shown = file.contains("build_id") ? id.substr(0, kShownIdDigits) : id;
      table.AddRow({{Printable(file.at("file").get<std::string>())},
                    {Printable(shown), Colour::kDim},
                    {Printable(file.at("contents").get<std::string>())},
                    {Megabytes(file.at("bytes").get<uint64_t>())},
                    {std::to_string(file.at("reports").get<uint64_t>())},
                    {Printable(file.at("result").get<std::string>())}});
    }
    std::string text = uploaded_.empty() ? "" : table.Render(style);
    if (skipped_ != 0) text += std::to_string(skipped_) + " other files skipped\n";
    return text;
  }

 private:
  void Fail(const std::string& problem) {
    PrintError(problem);
    problems_.push_back(problem);
  }

  void AddPath(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      ForEachFileBelow(path, [this](const std::string& file) { files_.push_back(file); });
    } else if (fs::is_regular_file(path, error)) {
      files_.push_back(path);
      named_.insert(path);
    } else {
      Fail(path + ": " + (error ? error.message() : "no file and no folder"));
    }
  }

  // Chooses the best file of each build id.
  void Identify() {
    std::set<std::string> with_symbols;
    std::vector<std::string> damaged;
    for (const ElfIdentity& elf : IdentifyElfFiles(files_, &damaged)) {
      if (elf.contents < ElfContents::kSymbols || !IsBuildId(elf.build_id)) continue;
      with_symbols.insert(elf.path);
      ElfIdentity& best = chosen_[elf.build_id];
      if (elf.contents > best.contents) best = elf;
    }
    for (const std::string& problem : damaged) Fail(problem);
    for (const std::string& path : named_) {
      if (with_symbols.contains(path)) continue;
      Fail(path +
           ": no ELF file with a build id and symbols (of a mapping: --app and --app-version)");
    }
    skipped_ = files_.size() - chosen_.size();
  }

  // Whether the collector has a file of this build id that says as much.
  bool IsPresent(const ElfIdentity& elf) {
    const Result<std::string> answer =
        HttpGet(url_ + "/api/v1/symbols?build_id=" + elf.build_id, kMaxAnswerBytes);
    if (!answer.ok()) {
      unreachable_ = answer.status().code() == StatusCode::kUnavailable;
      if (unreachable_) Fail(answer.status().message());
      return unreachable_;
    }
    const json told = json::parse(answer.value(), nullptr, /*allow_exceptions=*/false);
    for (const json& file : JsonField(told, "symbols")) {
      const bool says_less = JsonText(file, "contents") == "symbols";
      if (says_less && elf.contents == ElfContents::kDebugInfo) continue;
      Note(elf.path, file, "present");
      return true;
    }
    return false;
  }

  void SendMapping() {
    Send(options_.paths[0],
         "?app=" + QueryText(options_.app) + "&version=" + QueryText(*options_.app_version));
  }

  void Send(const std::string& path, const std::string& query) {
    ProgressLine progress;
    const Result<json> answer =
        PostSymbols(url_ + "/api/v1/symbols" + query, path,
                    [&](double done) { progress.Show("sending " + path, done); });
    if (answer.ok()) {
      return Note(path, answer.value(), JsonText(answer.value(), "result"));
    }
    Fail(path + ": " + answer.status().message());
    unreachable_ = answer.status().code() == StatusCode::kUnavailable;
  }

  void Note(const std::string& path, const json& answer, const std::string& result) {
    json file = {{"file", path},
                 {"contents", JsonText(answer, "contents")},
                 {"bytes", JsonCount(answer, "bytes")},
                 {"reports", JsonCount(answer, "reports")},
                 {"result", result}};
    if (options_.app.empty()) {
      file["build_id"] = JsonText(answer, "build_id");
    } else {
      file["app"] = options_.app;
      file["app_version"] = *options_.app_version;
    }
    uploaded_.push_back(std::move(file));
  }

  const UploadSymbolsOptions& options_;
  const std::string url_;
  std::vector<std::string> files_;
  std::set<std::string> named_;  // of files_: by the user
  std::map<std::string, ElfIdentity> chosen_;
  json uploaded_ = json::array();
  size_t skipped_ = 0;
  std::vector<std::string> problems_;  // printed already
  bool unreachable_ = false;           // one line is enough
};

}  // namespace

int RunUploadSymbols(const UploadSymbolsOptions& options) {
  Uploading uploading(options);
  uploading.Run();
  const std::string text = options.json ? JsonText(uploading.ToJson())
                                        : uploading.Render(DetectTextStyle(STDOUT_FILENO));
  return WriteText(STDOUT_FILENO, text) && uploading.ok() ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
