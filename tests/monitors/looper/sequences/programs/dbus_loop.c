/* A program whose loop waits for a bus' socket only. After 3 s a callback makes a blocking call
 * over the same connection while the bus is stopped. */
#include <dbus/dbus.h>

#include "tests/monitors/looper/sequences/programs/stalls.h"

static void call(DBusConnection* bus) {
  DBusMessage* ping = dbus_message_new_method_call("org.freedesktop.DBus", "/",
                                                   "org.freedesktop.DBus.Peer", "Ping");
  mark_begin();
  pause_peer();
  DBusMessage* answer = dbus_connection_send_with_reply_and_block(bus, ping, 5000, NULL);
  mark_end();
  dbus_message_unref(ping);
  if (answer != NULL) dbus_message_unref(answer);
}

int main(void) {
  DBusConnection* bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
  int fd = -1;
  if (bus == NULL || !dbus_connection_get_unix_fd(bus, &fd)) return 2;
  for (int tick = 0; tick < 60; ++tick) {
    struct pollfd socket = {fd, POLLIN, 0};
    poll(&socket, 1, 100);
    dbus_connection_read_write(bus, 0);
    while (dbus_connection_dispatch(bus) == DBUS_DISPATCH_DATA_REMAINS) {
    }
    if (tick == 30) call(bus);
  }
  return 0;
}
