#include "monitors/looper/printer_host.h"

namespace jankbox {

PrinterHost* MainPrinterHost() { return nullptr; }

}  // namespace jankbox
