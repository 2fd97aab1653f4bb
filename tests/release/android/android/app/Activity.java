package android.app;

import android.content.Context;
import android.os.Bundle;
import android.widget.TextView;
import java.util.concurrent.LinkedBlockingQueue;

/** Of Android, as far as the example uses it; `main` is the system that starts an activity, and waits for its first news. */
public class Activity extends Context {
    private final LinkedBlockingQueue<Runnable> onScreenThread = new LinkedBlockingQueue<>();
    private TextView content;

    protected void onCreate(Bundle state) {}

    protected void onDestroy() {}

    public void setContentView(TextView view) {
        content = view;
    }

    public final void runOnUiThread(Runnable action) {
        onScreenThread.add(action);
    }

    public static void main(String[] arguments) throws Exception {
        Activity activity = (Activity) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        activity.onCreate(null);
        activity.onScreenThread.take().run();
        System.out.println(activity.content.getText());
        activity.onDestroy();
    }
}
