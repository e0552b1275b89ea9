package bot;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A JSON value: the part of JSON that messages need. A request for a value of another type throws a {@link Malformed}.
 *
 * <p>The value is a map from names to Json, a list of Json, a String, a Long, a Double, a Boolean, or null.
 */
public record Json(Object value) {
    private static final int DEEPEST = 64;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?");

    /** The input is not JSON, or not of the expected form. */
    @SuppressWarnings("serial") // it is never serialized
    public static final class Malformed extends RuntimeException {
        public Malformed(String text) {
            super(text);
        }
    }

    /** Names and values alternate. A field whose value is null is absent. */
    public static Json object(Object... namesAndValues) {
        Map<String, Json> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            if (namesAndValues[i + 1] != null) {
                fields.put((String) namesAndValues[i], of(namesAndValues[i + 1]));
            }
        }
        return new Json(fields);
    }

    /** A text, a number, a truth value, a Json, or a list or map of them. */
    public static Json of(Object value) {
        if (value instanceof Json json) {
            return json;
        } else if (value instanceof Map<?, ?> map) {
            Map<String, Json> fields = new LinkedHashMap<>();
            map.forEach((name, each) -> fields.put((String) name, of(each)));
            return new Json(fields);
        } else if (value instanceof List<?> list) {
            return new Json(list.stream().map(Json::of).toList());
        } else if (value instanceof Integer number) {
            return new Json(number.longValue());
        }
        return new Json(value);
    }

    // -- reading a value

    public boolean isObject() {
        return value instanceof Map;
    }

    @SuppressWarnings("unchecked") // no other value is ever put into a Json
    public Map<String, Json> fields() {
        return (Map<String, Json>) as(Map.class);
    }

    @SuppressWarnings("unchecked") // the same
    public List<Json> items() {
        return (List<Json>) as(List.class);
    }

    public String text() {
        return as(String.class);
    }

    public long number() {
        return as(Long.class);
    }

    // -- reading a field of an object

    public boolean has(String name) {
        return fields().containsKey(name);
    }

    public Json get(String name) {
        Json field = fields().get(name);
        if (field == null) {
            throw new Malformed("no field " + name);
        }
        return field;
    }

    /** Without fields if it is absent. */
    public Json object(String name) {
        return has(name) ? get(name) : object();
    }

    public String text(String name) {
        return get(name).text();
    }

    public String text(String name, String ifAbsent) {
        return has(name) ? text(name) : ifAbsent;
    }

    public long number(String name) {
        return get(name).number();
    }

    public long number(String name, long ifAbsent) {
        return has(name) ? number(name) : ifAbsent;
    }

    /** Empty if it is absent. */
    public List<Json> items(String name) {
        return has(name) ? get(name).items() : List.of();
    }

    /** Texts; empty if it is absent. */
    public List<String> texts(String name) {
        return items(name).stream().map(Json::text).toList();
    }

    /** Numbers by name, such as cards by color; empty if it is absent. */
    public Map<String, Long> numbers(String name) {
        if (!has(name)) {
            return Map.of();
        }
        Map<String, Long> numbers = new LinkedHashMap<>();
        get(name).fields().forEach((key, number) -> numbers.put(key, number.number()));
        return numbers;
    }

    private <T> T as(Class<T> kind) {
        if (!kind.isInstance(value)) {
            throw new Malformed("expected " + kind.getSimpleName() + ", and not " + this);
        }
        return kind.cast(value);
    }

    // -- writing

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        write(text);
        return text.toString();
    }

    private void write(StringBuilder text) {
        if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<String, Json> field : fields().entrySet()) {
                writeText(text.append(separator), field.getKey());
                field.getValue().write(text.append(':'));
                separator = ",";
            }
            text.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof List) {
            String separator = "[";
            for (Json item : items()) {
                item.write(text.append(separator));
                separator = ",";
            }
            text.append(separator.equals("[") ? "[]" : "]");
        } else if (value instanceof String string) {
            writeText(text, string);
        } else {
            text.append(value);
        }
    }

    private static void writeText(StringBuilder text, String string) {
        text.append('"');
        for (char each : string.toCharArray()) {
            if (each == '"' || each == '\\') {
                text.append('\\').append(each);
            } else if (each < ' ') {
                text.append(String.format("\\u%04x", (int) each));
            } else {
                text.append(each);
            }
        }
        text.append('"');
    }

    // -- parsing

    public static Json parse(String text) {
        Parser parser = new Parser(text);
        Json json = parser.value(0);
        parser.skipSpace();
        if (parser.at < text.length()) {
            throw parser.wrong();
        }
        return json;
    }

    private static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        Json value(int depth) {
            if (depth > DEEPEST) {
                throw wrong();
            }
            skipSpace();
            switch (peek()) {
                case '{':
                    return object(depth);
                case '[':
                    return list(depth);
                case '"':
                    return new Json(string());
                case 't':
                    return word("true", true);
                case 'f':
                    return word("false", false);
                case 'n':
                    return word("null", null);
                default:
                    return number();
            }
        }

        private Json object(int depth) {
            Map<String, Json> fields = new LinkedHashMap<>();
            at++;
            for (boolean more = !skipIf('}'); more; more = hasMore('}')) {
                skipSpace();
                String name = string();
                expect(':');
                fields.put(name, value(depth + 1));
            }
            return new Json(Collections.unmodifiableMap(fields));
        }

        private Json list(int depth) {
            List<Json> items = new ArrayList<>();
            at++;
            for (boolean more = !skipIf(']'); more; more = hasMore(']')) {
                items.add(value(depth + 1));
            }
            return new Json(Collections.unmodifiableList(items));
        }

        private boolean hasMore(char end) {
            if (skipIf(end)) {
                return false;
            }
            expect(',');
            return true;
        }

        private String string() {
            expect('"');
            StringBuilder string = new StringBuilder();
            while (peek() != '"') {
                char each = text.charAt(at++);
                if (each < ' ') {
                    throw wrong();
                }
                string.append(each == '\\' ? escaped() : each);
            }
            at++;
            return string.toString();
        }

        private char escaped() {
            char each = peek();
            at++;
            if (each == 'u') {
                at += 4;
                try {
                    return (char) HexFormat.fromHexDigits(text, at - 4, at);
                } catch (IllegalArgumentException | IndexOutOfBoundsException error) {
                    throw wrong();
                }
            }
            int place = "\"\\/bfnrt".indexOf(each);
            if (place < 0) {
                throw wrong();
            }
            return "\"\\/\b\f\n\r\t".charAt(place);
        }

        private Json number() {
            Matcher number = NUMBER.matcher(text).region(at, text.length());
            if (!number.lookingAt()) {
                throw wrong();
            }
            at = number.end();
            boolean isWhole = number.group(1) == null && number.group(2) == null;
            try {
                return new Json(isWhole ? (Object) Long.valueOf(number.group()) : (Object) Double.valueOf(number.group()));
            } catch (NumberFormatException error) { // beyond 2^63
                throw wrong();
            }
        }

        private Json word(String word, Boolean value) {
            if (!text.startsWith(word, at)) {
                throw wrong();
            }
            at += word.length();
            return new Json(value);
        }

        private void expect(char sign) {
            if (!skipIf(sign)) {
                throw wrong();
            }
        }

        private boolean skipIf(char sign) {
            skipSpace();
            if (at < text.length() && text.charAt(at) == sign) {
                at++;
                return true;
            }
            return false;
        }

        private void skipSpace() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private char peek() {
            if (at >= text.length()) {
                throw wrong();
            }
            return text.charAt(at);
        }

        private Malformed wrong() {
            return new Malformed("no JSON at character " + at);
        }
    }
}
