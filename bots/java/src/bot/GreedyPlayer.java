package bot;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gives each listed move a value, and makes the first move with the highest one. The law is in protocol/GREEDY.md: an
 * answer follows from the board and the ask, in whole numbers, without random choices.
 */
public final class GreedyPlayer implements Player {
    private static final int GOOD_ROUTE_POINTS = 7;
    private static final int LARGE_HAND = 15; // so large that any claim is good
    private static final int CARDS_TO_ASK_FOR = 56; // on the tickets of all players, if tickets require cards
    private static final int ROOM_FOR_A_TICKET = 4;
    private static final String LOCOMOTIVE = "locomotive";
    private static final List<String> TECHNOLOGIES =
            List.of("mechanical_stoker", "superheated_steam_boiler", "boiler_lagging");

    private final Map<String, Long> ticketPoints = new HashMap<>();
    private final Map<String, Map<String, Long>> ticketCards = new HashMap<>();
    private final Map<String, Long> routePoints = new HashMap<>();

    public GreedyPlayer(Json start) {
        Json board = start.get("board");
        for (Json ticket : board.items("tickets")) {
            ticketPoints.put(ticket.text("id"), ticket.number("points"));
            ticketCards.put(ticket.text("id"), ticket.numbers("cards"));
        }
        Map<String, Long> pointsByLength = board.numbers("route_points");
        for (Json route : board.items("routes")) {
            routePoints.put(route.text("id"), pointsByLength.get(Long.toString(route.number("length"))));
        }
    }

    @Override
    public Json answer(Json ask) {
        List<Json> legal = ask.items("legal");
        int best = 0;
        long most = Long.MIN_VALUE;
        for (int index = 0; index < legal.size(); index++) {
            long worth = worth(legal.get(index), ask.object("view"));
            if (worth > most) {
                best = index;
                most = worth;
            }
        }
        return Player.index(best);
    }

    private long worth(Json move, Json view) {
        Json own = own(view);
        return switch (move.text("type")) {
            case "keep_tickets" -> worthOfTickets(move.texts("tickets"), view);
            case "draw_tickets" ->
                    own.has("yard") && asked(own.texts("tickets")) < limit(view) - ROOM_FOR_A_TICKET ? 2000 : -1;
            case "buy_technology" -> worthOfTechnology(move);
            case "claim_route" -> worthOfRoute(move, view);
            case "lay_cards" -> 500 + 10 * sum(move.numbers("cards").values()) - locomotives(move);
            case "take_card" -> wants(move.text("card"), own) ? 30 + held(own, move.text("card")) : 10;
            case "draw_three" -> 25;
            case "draw_card" -> 20;
            default -> 0;
        };
    }

    private long worthOfRoute(Json move, Json view) {
        long points = routePoints.getOrDefault(move.text("route"), 0L);
        boolean isTime = own(view).number("hand_count", 0) >= LARGE_HAND || view.has("turns_left");
        return points >= GOOD_ROUTE_POINTS || isTime ? 1000 + 10 * points - locomotives(move) : 0;
    }

    /** The value of keeping tickets: on a map few points are best; with yards many, within the limit. */
    private long worthOfTickets(List<String> kept, Json view) {
        Json own = own(view);
        long points = kept.stream().mapToLong(ticketPoints::get).sum();
        if (!own.has("yard")) {
            return -points;
        }
        return asked(own.texts("tickets")) + asked(kept) <= limit(view) ? points : -1;
    }

    private static long worthOfTechnology(Json move) {
        int place = TECHNOLOGIES.indexOf(move.text("technology"));
        return place >= 0 && sum(move.numbers("cards").values()) == locomotives(move) ? 3000 - place : -1;
    }

    private boolean wants(String color, Json own) {
        if (color.equals(LOCOMOTIVE)) {
            return false;
        }
        if (!own.has("yard")) {
            return held(own, color) >= 2;
        }
        List<String> tickets = own.texts("tickets");
        return held(own, color) < tickets.stream().mapToLong(id -> ticketCards.get(id).getOrDefault(color, 0L)).sum();
    }

    /** The number of cards on these tickets. */
    private long asked(List<String> tickets) {
        return tickets.stream().mapToLong(id -> sum(ticketCards.get(id).values())).sum();
    }

    private static long limit(Json view) {
        return CARDS_TO_ASK_FOR / view.items("players").size();
    }

    private static Json own(Json view) {
        return view.items("players").stream()
                .filter(player -> player.number("seat") == view.number("seat"))
                .findFirst()
                .orElseGet(Json::object);
    }

    private static long held(Json own, String color) {
        return own.object("hand").number(color, 0);
    }

    private static long locomotives(Json move) {
        return move.numbers("cards").getOrDefault(LOCOMOTIVE, 0L)
                + move.numbers("holder_cards").getOrDefault(LOCOMOTIVE, 0L);
    }

    private static long sum(Collection<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).sum();
    }
}
