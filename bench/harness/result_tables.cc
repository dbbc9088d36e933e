#include "bench/harness/result_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace jankbox::bench {
namespace {

std::string NumberText(double value) {
  char text[64];
  const double size = std::fabs(value);
  const int digits = value == std::floor(value) ? 0 : size >= 1000 ? 0 : size >= 10 ? 2 : 4;
  snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string CellText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return NumberText(value.get<double>());
  return value.is_null() ? "-" : value.dump();
}

bool IsTable(const Json& value) {
  return value.is_object() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& row) { return row.is_object(); });
}

class Text {
 public:
  explicit Text(bool colour) : colour_(colour) {}

  void Heading(const std::string& title) {
    text_ += "\n" + (colour_ ? "\033[1m" + title + "\033[0m" : title) + "\n";
  }

  void Rows(const std::vector<std::vector<std::string>>& rows) {
    std::vector<size_t> widths;
    for (const auto& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string fill(widths[i] - row[i].size(), ' ');
        line += " " + (i == 0 ? row[i] + fill : fill + row[i]) + " ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text_ += line + "\n";
    }
  }

  void Lines(const Json& object) {
    size_t width = 0;
    for (const auto& [key, value] : object.items()) {
      if (!value.is_object()) width = std::max(width, key.size());
    }
    for (const auto& [key, value] : object.items()) {
      if (value.is_object()) continue;
      text_ += "  " + key + std::string(width - key.size(), ' ') + "  " + CellText(value) + "\n";
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  bool colour_;
  std::string text_;
};

std::vector<std::vector<std::string>> TableRows(const Json& table) {
  std::vector<std::string> columns;
  for (const Json& row : table) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  std::vector<std::vector<std::string>> rows = {{""}};
  rows[0].insert(rows[0].end(), columns.begin(), columns.end());
  for (const auto& [name, row] : table.items()) {
    rows.push_back({name});
    for (const std::string& column : columns) {
      rows.back().push_back(row.contains(column) ? CellText(row[column]) : "-");
    }
  }
  return rows;
}

void AddObject(const std::string& title, const Json& object, Text* text) {
  text->Heading(title);
  if (IsTable(object)) {
    text->Rows(TableRows(object));
    return;
  }
  text->Lines(object);
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) AddObject(key, value, text);
  }
}

}  // namespace

std::string ResultTables(const Json& output, bool colour) {
  Text text(colour);
  AddObject(output["bench"].get<std::string>(), output["results"], &text);
  AddObject("machine", output["machine"], &text);
  return text.Take();
}

}  // namespace jankbox::bench
