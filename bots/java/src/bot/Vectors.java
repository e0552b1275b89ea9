package bot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Recorded asks: a check that greedy answers each of them as the specification demands. */
final class Vectors {
    private Vectors() {}

    /** Returns the number of asks in a file of JSON Lines, a start and its asks with their answers. */
    static int answer(String file) throws ClientException {
        int asks = 0;
        int line = 0;
        Player player = null;
        for (String text : lines(file)) {
            line++;
            Json row = Json.parse(text);
            if (row.has("start")) {
                player = new GreedyPlayer(row.get("start"));
            }
            if (row.has("ask") && player != null) {
                asks++;
                Json came = player.answer(row.get("ask"));
                if (!came.equals(row.get("answer"))) {
                    throw wrong(file, "line " + line + ": expected " + row.get("answer") + "; came " + came);
                }
            }
        }
        if (asks == 0) {
            throw wrong(file, "no asks");
        }
        return asks;
    }

    private static List<String> lines(String file) throws ClientException {
        try {
            return Files.readAllLines(Path.of(file));
        } catch (IOException error) {
            throw wrong(file, "cannot be read: " + error);
        }
    }

    private static ClientException wrong(String file, String text) {
        return new ClientException(file + ": " + text, ClientException.REFUSED);
    }
}
