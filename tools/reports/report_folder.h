// The folder of reports that the commands use if none is named.
#ifndef JANKBOX_TOOLS_REPORTS_REPORT_FOLDER_H_
#define JANKBOX_TOOLS_REPORTS_REPORT_FOLDER_H_

#include <string>

namespace jankbox::tools {

// Of --dir, in --help.
inline constexpr char kFolderDefault[] =
    "folder of reports [$JANKBOX_DIR, else $XDG_STATE_HOME/jankbox, else ~/.local/state/jankbox]";

// $JANKBOX_DIR, else $XDG_STATE_HOME/jankbox, else ~/.local/state/jankbox.
std::string DefaultReportDirectory();

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_REPORT_FOLDER_H_
