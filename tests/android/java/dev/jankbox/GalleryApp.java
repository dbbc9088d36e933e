package dev.jankbox;

import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.app.ApplicationExitInfo;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.os.Bundle;
import android.os.Handler;
import android.os.ProfilingManager;
import android.view.AttachedSurfaceControl;
import android.view.Display;
import android.view.FrameMetrics;
import android.view.SurfaceControl;
import android.view.Window;
import android.view.WindowManager;

import java.io.File;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;

/** An app as Android would make it: its manifest has options, and one activity comes and goes. */
final class GalleryApp extends Application {
    private final File folder;
    final ProfilingManager profiling = new ProfilingManager();
    private Application.ActivityLifecycleCallbacks callbacks;

    GalleryApp(String folder) {
        this.folder = new File(folder);
    }

    /** The activity, whose window reports its frames. */
    static final class Gallery extends Activity {
        final GalleryWindow window = new GalleryWindow();

        @Override
        public Window getWindow() {
            return window;
        }

        @Override
        public WindowManager getWindowManager() {
            return new WindowManager() {
                @Override
                public Display getDefaultDisplay() {
                    return new Display();
                }
            };
        }
    }

    static final class GalleryWindow extends Window {
        OnFrameMetricsAvailableListener listener;
        private SurfaceControl.OnJankDataListener jankListener;
        private int vsyncId = 4000;

        @Override
        public AttachedSurfaceControl getRootSurfaceControl() {
            return new AttachedSurfaceControl() {
                @Override
                public SurfaceControl.OnJankDataListenerRegistration registerOnJankDataListener(
                        Executor executor, SurfaceControl.OnJankDataListener added) {
                    jankListener = added;
                    return new SurfaceControl.OnJankDataListenerRegistration();
                }
            };
        }

        @Override
        public void addOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener added, Handler handler) {
            listener = added;
        }

        @Override
        public void removeOnFrameMetricsAvailableListener(OnFrameMetricsAvailableListener removed) {
            listener = null;
        }

        /** A frame whose work took that long and ended now. */
        void show(final long totalNs) {
            ++vsyncId;
            final long vsyncNs = System.nanoTime() - totalNs;
            listener.onFrameMetricsAvailable(this, new FrameMetrics() {
                @Override
                public long getMetric(int id) {
                    if (id == 14) return vsyncId;
                    return id == 8 ? totalNs : id == 10 || id == 11 ? vsyncNs : id < 8 ? totalNs / 16 : 0;
                }
            }, 0);
            if (jankListener == null) return;
            int type = totalNs > 16_000_000 ? SurfaceControl.JankData.JANK_APPLICATION : SurfaceControl.JankData.JANK_NONE;
            jankListener.onJankDataAvailable(Collections.singletonList(
                    new SurfaceControl.JankData(vsyncId, type, 16_666_666, 16_000_000, totalNs)));
        }
    }

    /** Knows one exit: the system wanted the memory. */
    private static final class Activities extends ActivityManager {
        @Override
        public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int maxNum) {
            return Collections.<ApplicationExitInfo>singletonList(new ApplicationExitInfo() {
                @Override
                public int getReason() {
                    return REASON_LOW_MEMORY;
                }

                @Override
                public int getPid() {
                    return Integer.getInteger("stub.exit_pid", 0);
                }

                @Override
                public String getDescription() {
                    return "too many cached";
                }
            });
        }
    }

    Application.ActivityLifecycleCallbacks callbacks() {
        return callbacks;
    }

    @Override
    public void registerActivityLifecycleCallbacks(Application.ActivityLifecycleCallbacks added) {
        callbacks = added;
    }

    @Override
    public File getNoBackupFilesDir() {
        return folder;
    }

    @Override
    public String getPackageName() {
        return "org.example.gallery";
    }

    @Override
    public Object getSystemService(String name) {
        if (name.equals(Context.ACTIVITY_SERVICE)) return new Activities();
        if (name.equals("ProfilingManager")) return profiling;
        if (!name.equals(Context.CONNECTIVITY_SERVICE)) return null;
        return new ConnectivityManager() {
            @Override
            public boolean isActiveNetworkMetered() {
                return true;
            }
        };
    }

    @Override
    public PackageManager getPackageManager() {
        return new PackageManager() {
            @Override
            public ApplicationInfo getApplicationInfo(String name, int flags) {
                ApplicationInfo info = new ApplicationInfo();
                info.metaData = new Bundle();
                info.metaData.putString("dev.jankbox.slow_message_ms", "200");
                info.metaData.putString("dev.jankbox.repeats", "1");
                info.metaData.putString("dev.jankbox.cold_start_ms", System.getProperty("cold_start_ms", "10000"));
                info.metaData.putString("dev.jankbox.ftrace", "1");
                info.metaData.putString("dev.jankbox.min_free_mib", "max");
                info.metaData.putString("dev.jankbox.system_trace", "true");
                info.metaData.putString("org.example.other", "x");
                return info;
            }

            @Override
            public PackageInfo getPackageInfo(String name, int flags) {
                PackageInfo info = new PackageInfo();
                info.versionName = "3.1";
                return info;
            }
        };
    }
}
