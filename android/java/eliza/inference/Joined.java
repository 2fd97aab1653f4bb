package eliza.inference;

/** Texts one after the other, as the bridge takes them. */
final class Joined {
    final byte[] bytes;
    final int[] lengths;

    Joined(byte[][] texts) {
        lengths = new int[texts.length];
        long total = 0;
        for (int i = 0; i < texts.length; i++) {
            lengths[i] = texts[i].length;
            total += lengths[i];
        }
        bytes = new byte[Math.toIntExact(total)];
        int at = 0;
        for (byte[] text : texts) {
            System.arraycopy(text, 0, bytes, at, text.length);
            at += text.length;
        }
    }
}
