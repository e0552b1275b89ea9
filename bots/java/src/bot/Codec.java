package bot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Lines and messages. A line is one JSON object in UTF-8, which ends with "\n" and nothing else.
 *
 * <p>This class checks the fields that a message needs, so that another program than a Stellwerk server causes an
 * error message and not a stack trace.
 */
public final class Codec {
    private static final int LONGEST_LINE = 1 << 20; // a server's lines stay below 60,000 bytes

    /** The types of the fields that the client relies on. Other messages and fields may have any form. */
    private static final Map<String, Map<String, Class<?>>> NEEDED = Map.of(
            "hello", Map.of("protocols", List.class),
            "welcome", Map.of("session", String.class, "resume_key", String.class, "name", String.class),
            "start", Map.of("match", String.class, "game", String.class, "players", List.class, "board", Map.class),
            "event", Map.of("match", String.class, "number", Long.class, "event", Map.class),
            "ask", Map.of("match", String.class, "ask", Long.class, "fallback", Map.class, "legal", List.class),
            "ok", Map.of("match", String.class),
            "default", Map.of("match", String.class, "reason", String.class),
            "error", Map.of("code", String.class),
            "end", Map.of("match", String.class, "result", Map.class),
            "bye", Map.of("code", String.class));

    /** The types of the fields that may be absent. */
    private static final Map<String, Class<?>> OPTIONAL = Map.of(
            "match", String.class, "ask", Long.class, "pointer", String.class, "expected", String.class,
            "retry_ms", Long.class, "view", Map.class);

    private Codec() {}

    /** Returns the message's line, to be written at once. */
    public static byte[] encode(Json message) {
        return (message + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the message of a line. */
    public static Json decode(byte[] line) throws ClientException {
        Json message;
        String type;
        try {
            message = Json.parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString());
            type = message.text("type");
        } catch (CharacterCodingException | Json.Malformed error) {
            String shown = new String(line, 0, Math.min(line.length, 80), StandardCharsets.ISO_8859_1);
            throw ClientException.notStellwerk("no object with a type: " + shown);
        }
        if (NEEDED.containsKey(type)) {
            check(type, message, NEEDED.get(type), true);
            check(type, message, OPTIONAL, false);
        }
        if (type.equals("ask") && message.items("legal").isEmpty()) {
            throw ClientException.notStellwerk("an ask without legal moves");
        }
        return message;
    }

    private static void check(String type, Json message, Map<String, Class<?>> fields, boolean needed)
            throws ClientException {
        for (Map.Entry<String, Class<?>> field : fields.entrySet()) {
            boolean isThere = message.has(field.getKey());
            if (isThere ? !field.getValue().isInstance(message.get(field.getKey()).value()) : needed) {
                throw ClientException.notStellwerk(type + " without a valid " + field.getKey());
            }
        }
    }

    /**
     * Returns the next line without its newline, or null at the end. A cut connection leaves half a line, which is
     * dropped.
     */
    public static byte[] readLine(InputStream stream) throws IOException, ClientException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
        for (int each = stream.read(); each >= 0; each = stream.read()) {
            if (each == '\n') {
                return line.toByteArray();
            }
            if (line.size() == LONGEST_LINE) {
                throw ClientException.notStellwerk("a line that does not end");
            }
            line.write(each);
        }
        return null;
    }
}
