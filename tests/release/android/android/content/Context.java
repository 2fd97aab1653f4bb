package android.content;

import java.io.File;

/** Of Android, as far as the example uses it. */
public class Context {
    public File getFilesDir() {
        return new File(System.getProperty("files"));
    }
}
