package bot;

/**
 * Plays one match for one seat. An answer should depend only on {@code start} and on the ask: a restart loses
 * everything that a player remembers.
 */
@FunctionalInterface
public interface Player {
    /** {@link #index} or {@link #move}. */
    Json answer(Json ask);

    /** One fact of the match. */
    default void event(Json event) {}

    /** Returns the answer that makes a listed move; the first has the index 0. */
    static Json index(int index) {
        return Json.object("index", index);
    }

    /** Returns the answer that makes any legal move. */
    static Json move(Json move) {
        return Json.object("move", move);
    }

    /** Returns the player of a match. The seed is for its random choices. */
    @FunctionalInterface
    interface Maker {
        Player make(Json start, String seed);
    }
}
