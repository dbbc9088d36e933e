#include "monitors/looper/printer_host.h"

namespace jankbox {

// Comes with the Java shim: a class that implements android.util.Printer, and reflection on
// Looper.mLogging through JNI.
PrinterHost* MainPrinterHost() { return nullptr; }

}  // namespace jankbox
