// A plain table for a terminal: columns as wide as their cells, made narrower (and at last left
// out) until a row fits the style's width. Used by `list` and `doctor`. Pure; allocates.
#ifndef JANKBOX_TOOLS_TERMINAL_TABLE_H_
#define JANKBOX_TOOLS_TERMINAL_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {

class Table {
 public:
  struct Column {
    std::string title;
    size_t min_width = 0;  // its cells are clipped down to this; 0: never clipped
    int drop_order = 0;    // if clipping is not enough, the highest goes first; 0: never
    bool right_aligned = false;
  };
  struct Cell {
    std::string text;  // printable, no escapes
    Colour colour = Colour::kNone;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES as many cells as columns.
  void AddRow(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

  // The titles and rows, each line ended.
  std::string Render(const TextStyle& style) const;

 private:
  // Width of each column; 0 for one that is left out.
  std::vector<size_t> Widths(size_t available) const;
  // One column narrower, the widest first; false if all are at their smallest. `cramped`:
  // nothing is left to drop, and clipping goes on below min_width.
  bool ClipWidest(bool cramped, std::vector<size_t>* widths) const;
  bool DropOne(std::vector<size_t>* widths) const;
  std::string RenderRow(const TextStyle& style, const std::vector<size_t>& widths,
                        const std::vector<Cell>& row) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_TABLE_H_
