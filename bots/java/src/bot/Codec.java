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
 * Lines and messages. A line is one JSON object in UTF-8, ended by "\n" and by nothing else.
 *
 * <p>What a message must not lack is looked at here, so that a peer which is no Stellwerk server ends in one sentence
 * and not in a stack trace.
 */
public final class Codec {
    private static final int LONGEST_LINE = 1 << 20; // a server's lines stay below 60,000 bytes

    /** The kind of what the client relies upon. Other messages, and other fields, may be whatever they are. */
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

    /** The kind of what may be absent from such a message. */
    private static final Map<String, Class<?>> OPTIONAL = Map.of(
            "match", String.class, "ask", Long.class, "pointer", String.class, "expected", String.class,
            "retry_ms", Long.class, "view", Map.class);

    private Codec() {}

    /** The message's line, to be written at once. */
    public static byte[] encode(Json message) {
        return (message + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** The message of a line. */
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
                throw ClientException.notStellwerk(type + " without a right " + field.getKey());
            }
        }
    }

    /** The next line without its newline, or null at the end. Half a line is what a cut leaves: it is dropped. */
    public static byte[] readLine(InputStream stream) throws IOException, ClientException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
        for (int each = stream.read(); each >= 0; each = stream.read()) {
            if (each == '\n') {
                return line.toByteArray();
            }
            if (line.size() == LONGEST_LINE) {
                throw ClientException.notStellwerk("a line without an end");
            }
            line.write(each);
        }
        return null;
    }
}
