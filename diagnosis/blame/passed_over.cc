#include "diagnosis/blame/passed_over.h"

#include "tracer/unwind/shown_stack.h"

namespace jankbox {
namespace {

// Lists of names; each name ends with a zero. One that ends in '*' is the start of a name.
constexpr char kModules[] =
    "libm.so*\0libm-*\0librt.so*\0libdl.so*\0[vdso]\0libstdc++*\0libc++*\0libgcc_s*\0"
    "libunwind*\0libjankbox*\0"
    // Allocators.
    "libjemalloc*\0libtcmalloc*\0libmimalloc*\0"
    // Signals, closures and types of GObject: nothing but dispatch.
    "libgobject-2.0*\0libffi*\0"
    // Libraries that wait for a display or a bus.
    "libxcb.so*\0libX11.so*\0libX11-xcb.so*\0libwayland-client*\0libdbus-1*\0"
    // Android's runtime.
    "libart.so\0libutils.so\0libbinder.so\0libandroid_runtime.so\0";

constexpr char kFunctions[] =
    // Of the C library, linked statically or under another name.
    "clock_gettime\0__clock_gettime*\0gettimeofday\0nanosleep\0__nanosleep*\0clock_nanosleep\0"
    "__clock_nanosleep*\0sleep\0usleep\0poll\0__poll*\0ppoll\0select\0__select*\0pselect\0"
    "epoll_wait\0epoll_pwait\0read\0__read*\0write\0__write*\0futex*\0syscall\0"
    "pthread_mutex_*\0pthread_cond_*\0pthread_rwlock_*\0__pthread_*\0__lll_*\0sem_wait\0"
    "memcpy*\0__memcpy*\0memmove*\0__memmove*\0memset*\0__memset*\0_start\0__libc_start*\0"
    // Allocation.
    "malloc\0calloc\0realloc\0free\0memalign\0posix_memalign\0aligned_alloc\0cfree\0"
    "operator new*\0operator delete*\0_int_malloc\0_int_free\0sysmalloc\0"
    "g_malloc*\0g_realloc*\0g_try_malloc*\0g_free*\0g_slice_*\0"
    // Dispatch and waits of GLib and GTK.
    "g_closure_invoke\0g_cclosure_marshal_*\0g_signal_emit*\0g_main_context_*\0g_main_loop_run\0"
    "g_main_dispatch\0g_application_run\0g_idle_dispatch\0g_timeout_dispatch\0g_poll\0g_usleep\0"
    "g_dbus_*\0sd_bus_*\0dbus_*\0"
    "g_mutex_lock\0g_rec_mutex_lock\0g_cond_wait*\0g_thread_proxy\0gtk_main\0"
    "gtk_main_do_event\0gtk_main_iteration*\0gtk_propagate_event\0gtk_widget_event\0"
    "gdk_event_source_dispatch\0gdk_threads_dispatch\0"
    // Of Qt.
    "QMetaObject::activate*\0QMetaObject::invokeMethod*\0QMetaMethod::invoke*\0doActivate*\0"
    "QtPrivate::*\0QObject::event\0QObject::event(*\0QCoreApplication::*\0"
    "QCoreApplicationPrivate::*\0QGuiApplication::*\0QGuiApplicationPrivate::*\0"
    "QApplication::*\0QApplicationPrivate::*\0QEventLoop::*\0QEventDispatcher*\0"
    "QWindowSystemInterface::*\0QTimerInfoList::*\0QSingleShotTimer::*\0QThread::sleep*\0"
    "QThread::msleep*\0QThread::usleep*\0QMutex::lock*\0QBasicMutex::*\0QWaitCondition::*\0"
    "QSemaphore::acquire*\0"
    // Of SDL and of loops in libraries.
    "SDL_Delay*\0SDL_WaitEvent*\0SDL_PollEvent*\0SDL_PumpEvents*\0uv_run\0uv__run_*\0"
    "uv__io_poll\0uv__work_*\0event_base_loop\0ev_run\0sd_event_run\0sd_event_loop\0"
    "sd_event_dispatch\0"
    // Interpreters.
    "PyObject_*\0_PyObject_*\0PyEval_*\0_PyEval_*\0PyVectorcall_*\0_PyVectorcall*\0"
    "_PyFunction_*\0PyCFunction_*\0_PyCFunction*\0PyRun_*\0_PyRun_*\0Py_Run*\0Py_Main\0"
    "Py_BytesMain\0PyImport_*\0_PyImport_*\0"
    "Builtins_*\0v8::base::*\0v8::internal::*\0v8::Function::*\0v8::Script::*\0v8::Isolate::*\0"
    "v8::MicrotasksScope::*\0node::MakeCallback*\0node::InternalMakeCallback*\0"
    "node::AsyncWrap::MakeCallback*\0node::CallbackScope::*\0node::InternalCallbackScope::*\0"
    "lua_call*\0lua_pcall*\0luaV_*\0luaD_*\0rb_funcall*\0rb_vm_*\0vm_exec*\0Perl_runops_*\0"
    "Perl_pp_entersub\0art_quick_*\0art_jni_*\0art::*\0android::Looper::*\0"
    "android::NativeMessageQueue::*\0";

constexpr char kLanguageLibraries[] =
    "std::*\0__gnu_cxx::*\0__cxxabiv1::*\0"
    "core::*\0alloc::*\0<core::*\0<alloc::*\0<std::*\0";

bool IsIn(const char* list, std::string_view name) {
  while (*list != '\0') {
    const std::string_view entry(list);
    const bool matches =
        entry.back() == '*' ? name.starts_with(entry.substr(0, entry.size() - 1)) : name == entry;
    if (matches) return true;
    list += entry.size() + 1;
  }
  return false;
}

}  // namespace

bool IsLanguageLibrary(std::string_view function) { return IsIn(kLanguageLibraries, function); }

bool IsPassedOver(std::string_view module, std::string_view function) {
  return IsCLibrary(module) || IsIn(kModules, module) || IsIn(kFunctions, function);
}

}  // namespace jankbox
