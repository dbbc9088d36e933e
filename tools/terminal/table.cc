#include "tools/terminal/table.h"

#include <algorithm>

namespace jankbox::tools {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kCrampedWidth = 6;

size_t LineWidth(const std::vector<size_t>& widths) {
  size_t sum = 0;
  for (size_t width : widths) sum += width == 0 ? 0 : width + kGap;
  return sum == 0 ? 0 : sum - kGap;
}

}  // namespace

std::vector<size_t> Table::Widths(size_t available) const {
  std::vector<size_t> natural;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const std::vector<Cell>& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    natural.push_back(width);
  }
  bool cramped = false;
  for (;;) {
    std::vector<size_t> widths = natural;
    while (available > 0 && LineWidth(widths) > available && ClipWidest(cramped, &widths)) {
    }
    if (available == 0 || LineWidth(widths) <= available || cramped) return widths;
    cramped = !DropOne(&natural);
  }
}

bool Table::ClipWidest(bool cramped, std::vector<size_t>* widths) const {
  size_t* widest = nullptr;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t& width = (*widths)[i];
    const size_t min_width = columns_[i].min_width;
    const size_t smallest = cramped ? std::min(min_width, kCrampedWidth) : min_width;
    const bool clippable = min_width > 0 && width > smallest;
    if (clippable && (widest == nullptr || width > *widest)) widest = &width;
  }
  if (widest != nullptr) --*widest;
  return widest != nullptr;
}

bool Table::DropOne(std::vector<size_t>* widths) const {
  size_t drop = columns_.size();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const int order = (*widths)[i] == 0 ? 0 : columns_[i].drop_order;
    if (order > 0 && (drop == columns_.size() || order > columns_[drop].drop_order)) drop = i;
  }
  if (drop == columns_.size()) return false;
  (*widths)[drop] = 0;
  return true;
}

std::string Table::RenderRow(const TextStyle& style, const std::vector<size_t>& widths,
                             const std::vector<Cell>& row) const {
  std::string line;
  size_t pending = 0;  // padding is written only before more text: no blanks at a line's end
  for (size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string text = Clip(style, row[i].text, widths[i]);
    const size_t padding = widths[i] - std::min(widths[i], DisplayWidth(text));
    if (columns_[i].right_aligned) pending += padding;
    if (!text.empty()) line.append(pending, ' ');
    if (!text.empty()) pending = 0;
    line += Paint(style, row[i].colour, text);
    pending += kGap + (columns_[i].right_aligned ? 0 : padding);
  }
  return line + '\n';
}

std::string Table::Render(const TextStyle& style) const {
  const std::vector<size_t> widths = Widths(style.columns);
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Colour::kBold});
  std::string text = RenderRow(style, widths, titles);
  for (const std::vector<Cell>& row : rows_) text += RenderRow(style, widths, row);
  return text;
}

}  // namespace jankbox::tools
