package bot;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Every method whose name begins with "test" is one. */
public final class CodecTest {
    private static final String ASK = """
            {"type":"ask","match":"m1","ask":5,"fallback":{"type":"complete_tickets","tickets":[]},
            "weather":{"sky":["gray",-1.5e3,true,null]},"view":{"seat":0,"players":[{"hand":{"red":2},"yard":[]},{}]},
            "legal":[{"type":"draw_card"},{"type":"dance","steps":3}]}""".replace("\n", "");

    private CodecTest() {}

    public static void main(String[] arguments) throws IllegalAccessException {
        int failed = 0;
        List<Method> tests = Arrays.stream(CodecTest.class.getDeclaredMethods())
                .filter(method -> method.getName().startsWith("test"))
                .toList();
        for (Method test : tests) {
            try {
                test.invoke(null);
            } catch (InvocationTargetException error) {
                failed++;
                System.out.println(test.getName() + " failed");
                error.getCause().printStackTrace(System.out);
            }
        }
        System.out.println(tests.size() - failed + " passed, " + failed + " failed");
        System.exit(failed == 0 && !tests.isEmpty() ? 0 : 1);
    }

    static void testAnAskIsReadAndWhatIsUnknownInItIsIgnored() throws ClientException {
        Json ask = decoded(ASK);
        Json own = ask.get("view").items("players").get(0);
        expect(5L, ask.number("ask"));
        expect(Map.of("red", 2L), own.numbers("hand"));
        expect(List.of("draw_card", "dance"), ask.items("legal").stream().map(move -> move.text("type")).toList());
    }

    static void testWhatIsAbsentIsToldFromWhatIsEmpty() throws ClientException {
        List<Json> players = decoded(ASK).get("view").items("players");
        expect(true, players.get(0).has("yard"));
        expect(false, players.get(1).has("yard"));
        expect(List.of(), players.get(1).items("yard"));
    }

    static void testAMessageOfAnUnknownTypeIsNoError() throws ClientException {
        expect("weather", decoded("{\"type\":\"weather\",\"match\":7,\"code\":null}").text("type"));
    }

    static void testWhatIsNoMessageIsToldAsSuch() {
        List<String> lines = List.of(
                "", "hello", "null", "[]", "\"ask\"", "{}", "{\"type\":3}", "{\"type\":\"ok\"", "{\"type\":\"ok\"}",
                "{\"type\":\"ok\",\"match\":3}", "{\"type\":\"error\",\"code\":\"a\",\"ask\":\"1\"}",
                ASK.replaceAll("\"legal\":.*", "\"legal\":[]}"));
        for (String line : lines) {
            expectNotStellwerk(line.getBytes(StandardCharsets.UTF_8));
        }
        expectNotStellwerk("{\"type\":\"bye\",\"code\":\"\u00ff\"}".getBytes(StandardCharsets.ISO_8859_1));
    }

    static void testWhatIsNoJsonIsRefused() {
        List<String> texts = List.of(
                "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "[1,]", "[1 2]", "01", "+1", "1.", ".5", "-", "1e", "tru", "nul",
                "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u+123\"", "\"\\u12", "\"\t\"", "{} {}", "[".repeat(100_000),
                "99999999999999999999");
        for (String text : texts) {
            try {
                throw new AssertionError(text + " was read as " + Json.parse(text));
            } catch (Json.Malformed error) {
                // as it should be
            }
        }
    }

    static void testValuesAreWrittenAsTheyWereRead() {
        String text = "{\"a\":[0,-12,9007199254740991,1.5,true,false,null,{},[]],\"\":\"a\\u0001\\\\\\\"\u2028ü🚂\"}";
        expect(text, Json.parse(text).toString());
        expect(text, Json.parse(" " + text.replace(",", " ,\t").replace("[", "[ ") + "\r").toString());
        expect("\b\f\n\r\t/é", Json.parse("\"\\b\\f\\n\\r\\t\\/\\u00E9\"").text());
    }

    static void testAnAnswerIsAnIndexOrAMove() throws ClientException {
        expect("{\"index\":0}", Player.index(0).toString());
        String expected = "{\"move\":{\"type\":\"complete_tickets\",\"tickets\":[]}}";
        expect(expected, Player.move(decoded(ASK).get("fallback")).toString());
    }

    static void testWhatIsAbsentIsNotWritten() {
        Json join = Json.object("type", "join", "room", null, "players", 2, "against", List.of("random"));
        expect("{\"type\":\"join\",\"players\":2,\"against\":[\"random\"]}", join.toString());
    }

    static void testAMessageIsOneLine() {
        String line = new String(Codec.encode(Json.object("note", "a\nb\u2028ü")), StandardCharsets.UTF_8);
        expect("{\"note\":\"a\\u000ab\u2028ü\"}\n", line);
    }

    static void testLinesAreTheSameHoweverTheyArrive() throws IOException, ClientException {
        String longLine = "x".repeat(60_000);
        byte[] text = ("first\nü\u2028second\r\n\n" + longLine + "\nhalf a line").getBytes(StandardCharsets.UTF_8);
        for (int cut : new int[] {0, 1, 5, 6, 7, 1000}) {
            InputStream stream = new SequenceInputStream(
                    new ByteArrayInputStream(text, 0, cut), new ByteArrayInputStream(text, cut, text.length - cut));
            List<String> lines = new ArrayList<>();
            for (byte[] line = Codec.readLine(stream); line != null; line = Codec.readLine(stream)) {
                lines.add(new String(line, StandardCharsets.UTF_8));
            }
            expect(List.of("first", "ü\u2028second\r", "", longLine), lines);
        }
    }

    static void testALineWithoutAnEndIsNoServer() throws IOException {
        try {
            Codec.readLine(new ByteArrayInputStream(new byte[2 << 20]));
            throw new AssertionError("it was read");
        } catch (ClientException error) {
            expect(ClientException.REFUSED, error.exitCode);
        }
    }

    private static Json decoded(String line) throws ClientException {
        return Codec.decode(line.getBytes(StandardCharsets.UTF_8));
    }

    private static void expectNotStellwerk(byte[] line) {
        try {
            throw new AssertionError("it was read as " + Codec.decode(line));
        } catch (ClientException error) {
            expect(true, error.getMessage().startsWith("this is not a Stellwerk server: "));
        }
    }

    private static void expect(Object expected, Object came) {
        if (!Objects.equals(expected, came)) {
            throw new AssertionError("expected " + expected + "; came " + came);
        }
    }
}
