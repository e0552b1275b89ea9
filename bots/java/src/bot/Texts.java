package bot;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Texts for people. */
final class Texts {
    private Texts() {}

    /** Formats an error or a bye of the server. */
    static String reason(String what, Json message) {
        String place = message.has("pointer") ? " at " + message.text("pointer") : "";
        return what + ": " + message.text("code") + place + ": " + message.text("expected", "");
    }

    /** The result of a match, best first: {@code usa: 1. greedy 97, 2. random -45}. Partners share their points. */
    static String result(Json start, Json end) throws ClientException {
        try {
            List<Json> players = start.items("players");
            return start.text("game") + ": " + end.get("result").items("teams").stream()
                    .sorted(Comparator.comparingLong(team -> team.number("rank")))
                    .map(team -> place(team, players))
                    .collect(Collectors.joining(", "));
        } catch (Json.Malformed | IndexOutOfBoundsException error) {
            throw ClientException.notStellwerk("end without a valid result");
        }
    }

    private static String place(Json team, List<Json> players) {
        String names = team.items("seats").stream()
                .map(seat -> players.get((int) seat.number()).text("name"))
                .collect(Collectors.joining(" and "));
        return team.number("rank") + ". " + names + " " + team.number("points");
    }

    /** Prepares a text for a terminal: without control characters, because the server's texts are not ours. */
    static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}|[\\x80-\\x9f\u2028\u2029]", "\ufffd");
    }
}
