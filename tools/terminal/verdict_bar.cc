#include "tools/terminal/verdict_bar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace jankbox::tools {
namespace {

constexpr size_t kBarColumns = 60;
constexpr size_t kLegendColumns = 96;

// Shares differ by glyph too: a bar without colour must still be read.
struct CauseLook {
  const char* cause;
  Colour colour;
  const char* glyph;
  const char* ascii;
};
constexpr CauseLook kLooks[] = {
    {"running", Colour::kRed, "█", "#"},     {"runnable", Colour::kYellow, "▓", "="},
    {"lock", Colour::kMagenta, "▒", "L"},    {"disk", Colour::kBlue, "░", "D"},
    {"fault", Colour::kCyan, "▚", "F"},      {"ipc", Colour::kGreen, "▞", "I"},
    {"gc", Colour::kCyan, "▤", "G"},         {"sleeping", Colour::kGreen, "·", "."},
    {"blocked", Colour::kMagenta, "▥", "B"}, {"unknown", Colour::kDim, "?", "?"},
};

const CauseLook& LookOf(const std::string& cause) {
  for (const CauseLook& look : kLooks) {
    if (cause == look.cause) return look;
  }
  return kLooks[std::size(kLooks) - 1];
}

std::vector<double> Parts(const std::vector<ReportView::Share>& shares) {
  std::vector<double> parts;
  for (const ReportView::Share& share : shares) parts.push_back(share.ms);
  return parts;
}

}  // namespace

std::vector<int> Apportion(const std::vector<double>& parts, int total) {
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<int> whole(parts.size(), 0);
  if (!(sum > 0)) return whole;
  std::vector<double> remainder(parts.size(), 0);
  int left = total;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double exact = parts[i] / sum * total;
    whole[i] = static_cast<int>(exact);
    remainder[i] = exact - whole[i];
    left -= whole[i];
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainder[a] > remainder[b]; });
  for (size_t i = 0; left > 0; ++i, --left) ++whole[order[i % order.size()]];
  return whole;
}

Colour CauseColour(const std::string& cause) { return LookOf(cause).colour; }

Colour KindColour(const std::string& kind) {
  if (kind == "anr" || kind == "recovered" || kind == "exit") return Colour::kRed;
  return kind == "manual" ? Colour::kNone : Colour::kYellow;
}

std::string VerdictBar(const TextStyle& style, const std::vector<ReportView::Share>& shares) {
  const size_t columns =
      style.columns == 0 ? kBarColumns : std::min(kBarColumns, style.columns - 4);
  const std::vector<int> cells = Apportion(Parts(shares), static_cast<int>(columns));
  const std::vector<int> percents = Apportion(Parts(shares), 100);
  const size_t legend_columns = style.columns == 0 ? kLegendColumns : style.columns - 4;
  std::string bar;
  std::string legend;
  size_t legend_width = 0;
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return shares[a].ms > shares[b].ms; });
  for (size_t i : order) {
    if (percents[i] == 0) continue;
    const CauseLook& look = LookOf(shares[i].cause);
    const std::string glyph = style.unicode ? look.glyph : look.ascii;
    std::string run;
    for (int cell = 0; cell < cells[i]; ++cell) run += glyph;
    bar += Paint(style, look.colour, run);

    const std::string entry = " " + shares[i].cause + " " + std::to_string(percents[i]) + " % (" +
                              DurationText(shares[i].ms) + ")";
    const size_t width = 1 + DisplayWidth(entry);
    if (legend_width > 0 && legend_width + 3 + width > legend_columns) {
      legend += "\n  ";
      legend_width = 0;
    }
    legend += (legend_width > 0 ? "   " : "") + Paint(style, look.colour, glyph) + entry;
    legend_width += (legend_width > 0 ? 3 : 0) + width;
  }
  return legend.empty() ? "" : "  " + bar + "\n  " + legend + "\n";
}

std::string CauseInBrief(const std::vector<ReportView::Share>& shares) {
  constexpr int kWorthNaming = 20;
  const std::vector<int> percents = Apportion(Parts(shares), 100);
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return percents[a] > percents[b]; });
  std::string text;
  for (size_t n = 0; n < std::min<size_t>(2, order.size()); ++n) {
    const size_t i = order[n];
    if (percents[i] == 0 || (n > 0 && percents[i] < kWorthNaming)) break;
    text += (n > 0 ? ", " : "") + shares[i].cause + " " + std::to_string(percents[i]) + " %";
  }
  return text;
}

}  // namespace jankbox::tools
