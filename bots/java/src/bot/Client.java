package bot;

import bot.ClientException.Lost;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Logs in, takes a seat, and asks a player for the answers, match by match.
 *
 * <p>The law: no action of the server ends in a stack trace. The client ignores unknown messages and fields, because
 * servers gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects
 * again and resumes the session. If it cannot continue, it throws a {@link ClientException} of one line. It does not
 * catch errors of the player, because the author wants to see them.
 */
public final class Client {
    private static final int PROTOCOL = 1;
    private static final int ATTEMPTS = 12; // to connect, in a row, without an accepted answer: over half a minute
    private static final long FIRST_PAUSE_MS = 100; // between two of them, doubled each time
    private static final long LONGEST_PAUSE_MS = 5_000;
    private static final long BUSY_PAUSE_MS = 1_000;
    private static final Set<String> COME_BACK =
            Set.of("server.shutting_down", "server.too_slow", "server.full", "server.busy");

    /** The last two mean: already ready, or in the room. An earlier connection did it. */
    private static final Set<String> NEEDS_NO_ANSWER = Set.of(
            "protocol.stale_ask", "protocol.too_fast", "protocol.out_of_phase", "protocol.too_many_matches");

    /**
     * The token may be null. The wish is the match to join, a {@code join}. If it is null, the client plays wherever
     * the server seats it, until bye.
     */
    public record Options(
            String bot, Player.Maker maker, String address, String name, String token, String seed, Json wish) {}

    private final Options options;
    private String name;
    private Connection connection;
    private Json session; // the newest welcome
    private final Map<String, Match> matches = new LinkedHashMap<>();
    private final Set<String> over = new HashSet<>();
    private Match acted; // the match whose act was sent last
    private boolean joining;
    private boolean done;
    private int attempts;

    public Client(Options options) {
        this.options = options;
        this.name = options.name();
    }

    /** Plays the match of the wish, or all that come. */
    public void run() throws ClientException {
        while (!done) {
            try {
                playUntilTheEnd();
            } catch (Lost lost) {
                boolean isStdio = options.address().equals(Connection.STDIO);
                if (isStdio && session != null && options.wish() == null && matches.isEmpty()) {
                    return; // the end of input means bye
                }
                attempts++;
                if (isStdio || attempts >= ATTEMPTS) {
                    throw lost;
                }
                log(lost.getMessage() + "; trying again");
                long pauseMs = Math.min(FIRST_PAUSE_MS << (attempts - 1), LONGEST_PAUSE_MS);
                pause(lost.retryMs != null ? lost.retryMs : pauseMs);
            }
        }
    }

    /** Plays until the end of the match of the wish, or of the connection. */
    private void playUntilTheEnd() throws ClientException {
        try (Connection opened = open()) {
            connection = opened;
            joining = false;
            logIn();
            while (!done) {
                take(receive());
            }
        }
    }

    private Connection open() throws ClientException {
        try {
            return Connection.open(options.address());
        } catch (IOException error) {
            String text = "cannot connect to " + options.address() + ": " + error.getMessage();
            throw session == null ? new ClientException(text, ClientException.NO_SERVER) : new Lost(text);
        }
    }

    private void send(Json message) throws Lost {
        try {
            connection.send(message);
        } catch (IOException error) {
            throw new Lost("the connection is lost");
        }
    }

    private Json receive() throws ClientException {
        Json message;
        try {
            message = connection.receive();
        } catch (IOException error) {
            message = null;
        }
        if (message == null) {
            throw new Lost("the connection is lost");
        }
        if (message.text("type").equals("bye")) {
            leave(message);
        }
        return message;
    }

    private void leave(Json bye) throws ClientException {
        String text = Texts.reason("the server sent bye", bye);
        if (COME_BACK.contains(bye.text("code"))) {
            throw new Lost(text, bye.has("retry_ms") ? bye.number("retry_ms") : null);
        }
        boolean allPlayed = session != null && matches.isEmpty() && options.wish() == null;
        if (!bye.text("code").equals("done") || !allPlayed) {
            throw refused(text);
        }
        done = true;
    }

    // -- the login

    /** Goes from hello to welcome. */
    private void logIn() throws ClientException {
        Json hello = receive();
        if (!hello.text("type").equals("hello")) {
            throw ClientException.notStellwerk("it sent no hello");
        }
        if (!hello.items("protocols").contains(Json.of(PROTOCOL))) {
            throw refused("the server speaks protocol " + hello.get("protocols") + ", not " + PROTOCOL);
        }
        boolean isFresh = session == null && options.token() == null; // otherwise it may already be in a match
        send(login());
        while (true) {
            Json message = receive();
            if (message.text("type").equals("welcome")) {
                enter(message, isFresh);
                return;
            }
            if (message.text("type").equals("error")) {
                if (session == null || !message.text("code").equals("auth.bad_resume_key")) {
                    throw refused(Texts.reason("the login was refused", message));
                }
                session = null; // its matches are lost, unless the token brings them back with a new start
                matches.clear();
                send(login());
            }
        }
    }

    private Json login() {
        Map<String, Long> lastEvents = new LinkedHashMap<>();
        matches.forEach((id, match) -> lastEvents.put(id, match.lastEvent));
        return Json.object(
                "type", "login",
                "protocol", PROTOCOL,
                "name", name,
                "language", "Java " + Runtime.version().feature(),
                "token", options.token(),
                "resume", session == null ? null : Json.object(
                        "session", session.text("session"),
                        "key", session.text("resume_key"),
                        "last_events", lastEvents));
    }

    /** The server sends the matches of a session before it answers a ping. Then the client knows whether to join. */
    private void enter(Json welcome, boolean isFresh) throws Lost {
        session = welcome;
        name = welcome.text("name"); // with a seat token the server uses the seat's name
        for (Match match : matches.values()) {
            if (!match.asked) { // a ready may have been lost; a second one is harmless
                send(ready(match.start));
            }
        }
        if (isFresh) {
            join();
        } else {
            send(Json.object("type", "ping"));
        }
    }

    // -- the matches

    private void take(Json message) throws ClientException {
        Match match = message.has("match") ? matches.get(message.get("match").value()) : null;
        switch (message.text("type")) {
            case "pong" -> join();
            case "start" -> start(message);
            case "error" -> mend(message);
            case "ok" -> attempts = 0;
            default -> { }
        }
        if (match != null) {
            takeOf(match, message);
        }
    }

    private void takeOf(Match match, Json message) throws ClientException {
        switch (message.text("type")) {
            case "event" -> {
                match.lastEvent = message.number("number");
                match.player.event(message.get("event"));
            }
            case "ask" -> answer(match, message);
            case "ok" -> match.ask = null;
            case "default" -> {
                match.ask = null;
                log("the server moved for this seat: " + message.text("reason"));
            }
            case "end" -> finish(match, Texts.result(match.start, message));
            default -> { }
        }
    }

    private void join() throws Lost {
        if (options.wish() != null && matches.isEmpty()) {
            joining = true;
            send(options.wish());
        }
    }

    /** Begins a new match, or continues one of a resumed session. */
    private void start(Json start) throws Lost {
        String id = start.text("match");
        joining = false;
        if (!over.contains(id) && !matches.containsKey(id)) {
            matches.put(id, new Match(start, options.maker().make(start, options.seed())));
            send(ready(start));
        }
    }

    private static Json ready(Json start) {
        return Json.object("type", "ready", "match", start.text("match"));
    }

    /** Sends the player's answer. If the server refuses it, the first listed move follows, then the fallback. */
    private void answer(Match match, Json ask) throws Lost {
        match.ask = ask;
        match.asked = true;
        match.answers.clear();
        match.answers.addAll(
                List.of(match.player.answer(ask), Player.index(0), Player.move(ask.get("fallback"))));
        act(match);
    }

    private void act(Match match) throws Lost {
        if (match.ask == null || match.answers.isEmpty()) {
            return;
        }
        acted = match;
        Map<String, Json> act = new LinkedHashMap<>();
        act.put("type", Json.of("act"));
        act.put("match", match.ask.get("match"));
        act.put("ask", match.ask.get("ask"));
        act.putAll(match.answers.getFirst().fields());
        send(new Json(act));
    }

    private void finish(Match match, String text) {
        matches.remove(match.start.text("match"));
        over.add(match.start.text("match"));
        done = options.wish() != null;
        System.out.println(Texts.printable(text));
    }

    /**
     * Handles an error. Errors come in the order of the lines that they are about, so one without a match is about the
     * last act.
     */
    private void mend(Json error) throws ClientException {
        String code = error.text("code");
        Match match = error.has("match") ? matches.get(error.text("match")) : acted;
        boolean isOpen = match != null && match.ask != null
                && (!error.has("ask") || error.get("ask").equals(match.ask.get("ask")));
        if (NEEDS_NO_ANSWER.contains(code)) {
            return;
        }
        if (code.equals("server.failed") && match != null) {
            finish(match, match.start.text("game") + ": no result, server.failed");
        } else if (code.equals("server.busy") && isOpen) {
            pause(BUSY_PAUSE_MS);
            act(match);
        } else if (joining) {
            throw refused(Texts.reason("the join was refused", error));
        } else if (isOpen) {
            log(Texts.reason("the answer was refused", error));
            match.answers.pollFirst();
            act(match);
        } else {
            log(Texts.reason("the server refused a message", error));
        }
    }

    private void log(String text) {
        System.err.println(options.bot() + ": " + Texts.printable(text));
    }

    private static ClientException refused(String text) {
        return new ClientException(text, ClientException.REFUSED);
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
