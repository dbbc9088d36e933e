"""Tells when a program has shown its first window on an X display that it has for itself."""
import ctypes
import os
import select
import threading
import time

SUBSTRUCTURE_NOTIFY_MASK = 1 << 19
MAP_NOTIFY = 19
EVENT_BYTES = 192  # of XEvent


class FirstWindow:
    """A client of the display that hears of its windows; close() it before the server ends."""

    def __init__(self, display):
        self.shown_s = None
        self.x11 = ctypes.CDLL('libX11.so.6')
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.x11.XDefaultRootWindow.restype = ctypes.c_ulong
        self.x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        self.x11.XSelectInput.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_long]
        for name in ('XPending', 'XConnectionNumber', 'XCloseDisplay', 'XFlush'):
            getattr(self.x11, name).argtypes = [ctypes.c_void_p]
        self.x11.XNextEvent.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.connection = self.x11.XOpenDisplay(display.encode())
        if not self.connection:
            raise RuntimeError(f'zoo: display {display} cannot be opened')
        self.x11.XSelectInput(self.connection, self.x11.XDefaultRootWindow(self.connection), SUBSTRUCTURE_NOTIFY_MASK)
        self.x11.XFlush(self.connection)
        self.wake_read, self.wake_write = os.pipe()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def forget(self):
        """A new run begins."""
        self.shown_s = None

    def listen(self):
        event = ctypes.create_string_buffer(EVENT_BYTES)
        files = [self.x11.XConnectionNumber(self.connection), self.wake_read]
        while self.wake_read not in select.select(files, [], [])[0]:
            now_s = time.monotonic()
            while self.x11.XPending(self.connection):
                self.x11.XNextEvent(self.connection, event)
                if ctypes.c_int.from_buffer(event).value == MAP_NOTIFY and self.shown_s is None:
                    self.shown_s = now_s

    def close(self):
        os.write(self.wake_write, b'x')
        self.thread.join()
        self.x11.XCloseDisplay(self.connection)
        os.close(self.wake_read)
        os.close(self.wake_write)
