package bot;

/** The reason why the client cannot continue, in one line. */
@SuppressWarnings("serial") // it is never serialized
public class ClientException extends Exception {
    public static final int REFUSED = 1;
    public static final int USAGE = 2;
    public static final int NO_SERVER = 4;

    public final int exitCode;

    public ClientException(String text, int exitCode) {
        super(text);
        this.exitCode = exitCode;
    }

    /** An error for bytes that no Stellwerk server sends. */
    public static ClientException notStellwerk(String text) {
        return new ClientException("this is not a Stellwerk server: " + text, REFUSED);
    }

    /** A lost connection. Another one may help. */
    public static final class Lost extends ClientException {
        public final Long retryMs; // when to come back; null if the server named no time

        public Lost(String text) {
            this(text, null);
        }

        public Lost(String text, Long retryMs) {
            super(text, NO_SERVER);
            this.retryMs = retryMs;
        }
    }
}
