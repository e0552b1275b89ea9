/* The bot `greedy`: it gives each listed move a value, and makes the first move with the highest one. The law is in
   protocol/GREEDY.md: an answer follows from the board and the ask, in whole numbers, without random choices. */

#include "players.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    GOOD_ROUTE_POINTS = 7,
    LARGE_HAND = 15,      /* so large that any claim is good */
    CARDS_TO_ASK_FOR = 56, /* on the tickets of all players, if tickets require cards */
    ROOM_FOR_A_TICKET = 4,
    TECHNOLOGIES = 3,
};

static const char *const WANTED[TECHNOLOGIES] = {"mechanical_stoker", "superheated_steam_boiler", "boiler_lagging"};

/* The other inputs of a value, besides the move. */
struct position {
    const cJSON *board, *view, *own;
};

static int total(const cJSON *cards)
{
    int sum = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, cards) sum += each->valueint;
    return sum;
}

static int locomotives(const cJSON *move)
{
    return number(field(move, "cards"), "locomotive") + number(field(move, "holder_cards"), "locomotive");
}

static const cJSON *ticket_of(const struct position *position, const cJSON *id)
{
    const char *name = cJSON_GetStringValue(id);
    return name == NULL ? NULL : by_id(field(position->board, "tickets"), name);
}

static int points_of(const struct position *position, const cJSON *tickets)
{
    int sum = 0;
    const cJSON *id;
    cJSON_ArrayForEach(id, tickets) sum += number(ticket_of(position, id), "points");
    return sum;
}

/* The number of cards on these tickets. */
static int asked(const struct position *position, const cJSON *tickets)
{
    int sum = 0;
    const cJSON *id;
    cJSON_ArrayForEach(id, tickets) sum += total(field(ticket_of(position, id), "cards"));
    return sum;
}

static int asked_by_own(const struct position *position)
{
    return asked(position, field(position->own, "tickets"));
}

static bool has_yards(const struct position *position)
{
    return field(position->own, "yard") != NULL;
}

static int limit(const struct position *position)
{
    return CARDS_TO_ASK_FOR / cJSON_GetArraySize(field(position->view, "players"));
}

/* The value of keeping tickets: on a map few points are best; with yards many, within the limit. */
static int worth_of_tickets(const struct position *position, const cJSON *kept)
{
    if (!has_yards(position))
        return -points_of(position, kept);
    bool fits = asked_by_own(position) + asked(position, kept) <= limit(position);
    return fits ? points_of(position, kept) : -1;
}

static int worth_of_technology(const cJSON *move)
{
    if (total(field(move, "cards")) == locomotives(move))
        for (int place = 0; place < TECHNOLOGIES; place++)
            if (strcmp(text(move, "technology"), WANTED[place]) == 0)
                return 3000 - place;
    return -1;
}

static int worth_of_route(const struct position *position, const cJSON *move)
{
    char length[16];
    const cJSON *route = by_id(field(position->board, "routes"), text(move, "route"));
    snprintf(length, sizeof length, "%d", number(route, "length"));
    int points = number(field(position->board, "route_points"), length);
    bool is_time = number(position->own, "hand_count") >= LARGE_HAND || field(position->view, "turns_left") != NULL;
    return points >= GOOD_ROUTE_POINTS || is_time ? 1000 + 10 * points - locomotives(move) : 0;
}

static int worth_of_card(const struct position *position, const char *color)
{
    int held = number(field(position->own, "hand"), color), on_tickets = 0;
    const cJSON *id;
    cJSON_ArrayForEach(id, field(position->own, "tickets"))
        on_tickets += number(field(ticket_of(position, id), "cards"), color);
    bool is_wanted = has_yards(position) ? held < on_tickets : held >= 2;
    return is_wanted && strcmp(color, "locomotive") != 0 ? 30 + held : 10;
}

static int worth(const struct position *position, const cJSON *move)
{
    if (is_type(move, "keep_tickets"))
        return worth_of_tickets(position, field(move, "tickets"));
    if (is_type(move, "draw_tickets")) {
        bool has_room = has_yards(position) && asked_by_own(position) < limit(position) - ROOM_FOR_A_TICKET;
        return has_room ? 2000 : -1;
    }
    if (is_type(move, "buy_technology"))
        return worth_of_technology(move);
    if (is_type(move, "claim_route"))
        return worth_of_route(position, move);
    if (is_type(move, "lay_cards"))
        return 500 + 10 * total(field(move, "cards")) - locomotives(move);
    if (is_type(move, "take_card"))
        return worth_of_card(position, text(move, "card"));
    if (is_type(move, "draw_three"))
        return 25;
    return is_type(move, "draw_card") ? 20 : 0;
}

static const cJSON *own_view(const cJSON *view)
{
    const cJSON *player;
    cJSON_ArrayForEach(player, field(view, "players")) if (number(player, "seat") == number(view, "seat")) return player;
    return NULL;
}

static cJSON *answer(struct player *player, const cJSON *ask)
{
    const cJSON *view = field(ask, "view"), *move;
    struct position position = {.board = field(player->start, "board"), .view = view, .own = own_view(view)};
    int best = 0, most = INT_MIN, index = 0;
    cJSON_ArrayForEach(move, field(ask, "legal"))
    {
        int found = worth(&position, move);
        if (found > most) {
            best = index;
            most = found;
        }
        index++;
    }
    return answer_index(best);
}

struct player *new_greedy(const cJSON *start, const char *seed)
{
    return plain_player(answer, start, seed);
}
