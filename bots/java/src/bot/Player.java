package bot;

/**
 * Plays one match for one seat. All that an answer depends on should stand in {@code start} and in the ask: a player
 * that remembers more would have lost it after a restart.
 */
@FunctionalInterface
public interface Player {
    /** {@link #index} or {@link #move}. */
    Json answer(Json ask);

    /** One fact of the match. */
    default void event(Json event) {}

    /** The answer that makes a listed move; the first has the index 0. */
    static Json index(int index) {
        return Json.object("index", index);
    }

    /** The answer that makes any legal move. */
    static Json move(Json move) {
        return Json.object("move", move);
    }

    /** Makes the player of a match. The seed is for its chance. */
    @FunctionalInterface
    interface Maker {
        Player make(Json start, String seed);
    }
}
