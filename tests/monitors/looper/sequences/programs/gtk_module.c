/* A GTK 3 module ($GTK_MODULES) that plants a stall into whatever program loads it, 4 s after its
 * start. $STALL is one of stalls.h, or
 *   xsync      XSync() while the X server is stopped
 *   gdbus      a synchronous call over GDBus while the bus is stopped
 *   roundtrip  wl_display_roundtrip() while the compositor is stopped
 *   dialog     no stall: a modal dialog runs the loop for 3 s */
#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <gtk/gtk.h>

#include "tests/monitors/looper/sequences/programs/stalls.h"

static GDBusConnection* bus;

static gboolean close_dialog(gpointer dialog) {
  gtk_dialog_response(GTK_DIALOG(dialog), GTK_RESPONSE_CLOSE);
  return G_SOURCE_REMOVE;
}

static void run_dialog(void) {
  GtkWidget* dialog = gtk_message_dialog_new(NULL, GTK_DIALOG_MODAL, GTK_MESSAGE_INFO,
                                             GTK_BUTTONS_CLOSE, "A modal dialog");
  g_timeout_add(3000, close_dialog, dialog);
  gtk_dialog_run(GTK_DIALOG(dialog));
  gtk_widget_destroy(dialog);
}

static void call_bus(void) {
  GVariant* answer =
      g_dbus_connection_call_sync(bus, "org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer",
                                  "Ping", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);
  if (answer != NULL) g_variant_unref(answer);
}

static gboolean plant(gpointer unused) {
  (void)unused;
  const char* kind = getenv("STALL");
  if (strcmp(kind, "dialog") == 0) {
    run_dialog();
  } else if (!stall(kind)) { /* stall() has marked the start */
    pause_peer();
    if (strcmp(kind, "xsync") == 0)
      XSync(gdk_x11_display_get_xdisplay(gdk_display_get_default()), False);
    if (strcmp(kind, "gdbus") == 0) call_bus();
    if (strcmp(kind, "roundtrip") == 0) {
      wl_display_roundtrip(gdk_wayland_display_get_wl_display(gdk_display_get_default()));
    }
    mark_end();
  }
  return G_SOURCE_REMOVE;
}

G_MODULE_EXPORT void gtk_module_init(gint* argc, gchar*** argv);
G_MODULE_EXPORT void gtk_module_init(gint* argc, gchar*** argv) {
  (void)argc, (void)argv;
  const char* kind = getenv("STALL");
  if (kind == NULL) return;
  if (strcmp(kind, "gdbus") == 0) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
  g_timeout_add(4000, plant, NULL);
}

G_MODULE_EXPORT const char* g_module_check_init(GModule* module);
G_MODULE_EXPORT const char* g_module_check_init(GModule* module) {
  g_module_make_resident(module);
  return NULL;
}
