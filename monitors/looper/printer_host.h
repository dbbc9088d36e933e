// The seam to an android.os.Looper: reads its field mLogging and installs Jankbox's printer there.
// Its other side is Java (sdk/android). That thread's own; cold.
#ifndef JANKBOX_MONITORS_LOOPER_PRINTER_HOST_H_
#define JANKBOX_MONITORS_LOOPER_PRINTER_HOST_H_

namespace jankbox {

class PrinterHost {
 public:
  enum class Holder {
    kNobody,      // no printer
    kOurs,        // the wrapper that Install() made last
    kOurClass,    // an object of our class's name: an older wrapper, or one of another class loader
    kSomebody,    // another printer
    kUnreadable,  // the field cannot be read: reflection is not permitted
  };

  virtual ~PrinterHost() = default;

  // Who prints the Looper's messages now.
  virtual Holder Look() = 0;

  // Makes a wrapper print them (Looper.setMessageLogging). It hands each line to what printed
  // before, if `chained` and there is one, and then to PrinterDispatches::OnLine().
  virtual void Install(bool chained) = 0;

  // Puts back what the wrapper made last has in its chain. REQUIRES Look() == kOurs.
  virtual void Uninstall() = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_PRINTER_HOST_H_
