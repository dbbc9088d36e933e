package android.view.animation;

public class AnimationUtils {
    public static void lockAnimationClock(long ms) {}

    public static void unlockAnimationClock() {}
}
