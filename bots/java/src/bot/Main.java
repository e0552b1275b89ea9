package bot;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A bot for Stellwerk. With --game it joins a match. Without it, it plays wherever the server seats it; a server starts
 * bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server.
 */
public final class Main {
    private static final String USAGE = """
            usage: java -jar stellwerk-bot.jar NAME
                       [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                       [--game G --players N --option X --against a,b,c --seed S --room R --seat K]
                   java -jar stellwerk-bot.jar vectors FILE

            NAME is random or greedy. --option may be repeated. An address is tcp://HOST:PORT,
            tls://HOST:PORT or stdio:. Defaults come from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the
            bot leaves to chance follows from STELLWERK_BOT_SEED.""";

    private Main() {}

    public static void main(String[] words) {
        try {
            run(List.of(words));
        } catch (ClientException error) {
            System.err.println(Texts.printable(error.getMessage()));
            if (error.exitCode == ClientException.USAGE) {
                System.err.println(USAGE);
            }
            System.exit(error.exitCode);
        }
    }

    private static void run(List<String> words) throws ClientException {
        String name = words.isEmpty() ? "" : words.get(0);
        if (name.equals("-h") || name.equals("--help")) {
            System.out.println(USAGE);
        } else if (name.equals("vectors") && words.size() == 2) {
            System.out.println(words.get(1) + ": " + Vectors.answer(words.get(1)) + " asks answered as recorded");
        } else if (Players.BY_NAME.containsKey(name)) {
            new Client(options(name, words.subList(1, words.size()))).run();
        } else {
            throw usage("not a bot: " + name);
        }
    }

    private static Client.Options options(String bot, List<String> words) throws ClientException {
        String address = variable("ADDRESS", Connection.DEFAULT_ADDRESS);
        String name = variable("NAME", String.format("%s-%06x", bot, ThreadLocalRandom.current().nextInt(1 << 24)));
        String token = variable("TOKEN", null);
        String botSeed = variable("BOT_SEED", Long.toString(ThreadLocalRandom.current().nextLong()));
        String game = null;
        String room = null;
        String seed = null;
        Integer players = null;
        Integer seat = null;
        List<String> options = new ArrayList<>();
        List<String> against = List.of();
        for (int i = 0; i < words.size(); i += 2) {
            if (i + 1 == words.size()) {
                throw usage(words.get(i) + " needs a value");
            }
            String value = words.get(i + 1);
            switch (words.get(i)) {
                case "--address" -> address = value;
                case "--name" -> name = value;
                case "--token" -> token = value;
                case "--game" -> game = value;
                case "--players" -> players = number(value);
                case "--option" -> options.add(value);
                case "--against" -> against = value.isEmpty() ? List.of() : List.of(value.split(","));
                case "--seed" -> seed = value;
                case "--room" -> room = value;
                case "--seat" -> seat = number(value);
                default -> throw usage("not an option: " + words.get(i));
            }
        }
        Json wish = game == null ? null : Json.object(
                "type", "join",
                "game", game,
                "players", players != null ? players : Math.max(2, against.size() + 1),
                "options", options.isEmpty() ? null : options,
                "room", room,
                "against", against.isEmpty() ? null : against,
                "seat", seat,
                "seed", seed);
        return new Client.Options(bot, Players.BY_NAME.get(bot), address, name, token, botSeed, wish);
    }

    private static String variable(String name, String ifUnset) {
        String value = System.getenv("STELLWERK_" + name);
        return value == null || value.isEmpty() ? ifUnset : value;
    }

    private static int number(String text) throws ClientException {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException error) {
            throw usage("not a number: " + text);
        }
    }

    private static ClientException usage(String text) {
        return new ClientException(text, ClientException.USAGE);
    }
}
