package bot;

import java.util.Map;

/** The bots by name. Add yours here. */
final class Players {
    static final Map<String, Player.Maker> BY_NAME = Map.of(
            "greedy", (start, seed) -> new GreedyPlayer(start),
            "random", RandomPlayer::new);

    private Players() {}
}
