package android.widget;

import android.content.Context;

/** Of Android, as far as the example uses it. */
public class TextView {
    private CharSequence text = "";

    public TextView(Context context) {}

    public CharSequence getText() {
        return text;
    }

    public void setText(CharSequence text) {
        this.text = text;
    }
}
