package bot;

/** It cannot go on; one line says why. */
@SuppressWarnings("serial") // nobody serializes it
public class ClientException extends Exception {
    public static final int REFUSED = 1;
    public static final int USAGE = 2;
    public static final int NO_SERVER = 4;

    public final int exitCode;

    public ClientException(String text, int exitCode) {
        super(text);
        this.exitCode = exitCode;
    }

    /** About bytes that no Stellwerk server sends. */
    public static ClientException notStellwerk(String text) {
        return new ClientException("this is no Stellwerk server: " + text, REFUSED);
    }

    /** The connection is gone, and another may help. */
    public static final class Lost extends ClientException {
        public final Long retryMs; // when the server wants to be visited again; null if it did not say

        public Lost(String text) {
            this(text, null);
        }

        public Lost(String text, Long retryMs) {
            super(text, NO_SERVER);
            this.retryMs = retryMs;
        }
    }
}
