// Compiled into the real libbinder.so that build_binder.py makes: what binder_library_test.cc calls
// in it, so that the test itself needs no header of AOSP.
#include <binder/IPCThreadState.h>
#include <binder/Parcel.h>
#include <binder/ProcessState.h>
#include <utils/String16.h>

using android::IPCThreadState;
using android::Parcel;
using android::ProcessState;
using android::String16;

// Opens the driver at `path`. 0 if that failed.
extern "C" int OpenDriver(const char* path) {
  return ProcessState::initWithDriver(path) != nullptr ? 1 : 0;
}

// Calls `code` of object `handle` as generated code does: the interface's token, then arguments.
extern "C" int CallObject(const char* interface, uint32_t handle, uint32_t code, uint32_t flags) {
  Parcel data, reply;
  if (interface != nullptr) data.writeInterfaceToken(String16(interface));
  data.writeString16(String16("an argument"));
  return IPCThreadState::self()->transact(static_cast<int32_t>(handle), code, data, &reply, flags);
}
