package bot;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * Makes every listed move with the same probability. Its choices depend on the seed, the match and the ask, so a bot
 * that resumes chooses the same.
 */
public final class RandomPlayer implements Player {
    private final String chance;

    public RandomPlayer(Json start, String seed) {
        chance = seed + "/" + start.text("match");
    }

    @Override
    public Json answer(Json ask) {
        byte[] text = (chance + "/" + ask.number("ask")).getBytes(StandardCharsets.UTF_8);
        long hash = UUID.nameUUIDFromBytes(text).getLeastSignificantBits();
        return Player.index(new SplittableRandom(hash).nextInt(ask.items("legal").size()));
    }
}
