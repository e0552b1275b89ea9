package bot;

import java.util.ArrayDeque;
import java.util.Deque;

/** A match that the client plays. */
final class Match {
    final Json start;
    final Player player;
    final Deque<Json> answers = new ArrayDeque<>(); // the one sent, then those to try after it
    long lastEvent;
    boolean asked; // if true, the server knows that this seat is ready
    Json ask; // the open one

    Match(Json start, Player player) {
        this.start = start;
        this.player = player;
    }
}
