/* The match that a client plays: its messages, and their answers. */

#include "session.h"

#include "texts.h"

#include <string.h>

enum { BUSY_PAUSE_MS = 1000 };

static const char *const NEEDS_NO_ANSWER[] = {
    "protocol.stale_ask",
    "protocol.too_fast",
    "protocol.out_of_phase",     /* already ready, or in the room: an earlier connection did it */
    "protocol.too_many_matches", /* the same */
};

void forget_match(struct client *client)
{
    if (client->player != NULL)
        client->player->free(client->player);
    cJSON_Delete(client->start);
    cJSON_Delete(client->ask);
    cJSON_Delete(client->answers);
    client->player = NULL;
    client->start = client->ask = client->answers = NULL;
    client->last_event = 0;
    client->asked = false;
}

static void close_ask(struct client *client)
{
    cJSON_Delete(client->ask);
    client->ask = NULL;
}

enum status send_ready(struct client *client)
{
    cJSON *ready = message_of("ready");
    cJSON_AddStringToObject(ready, "match", text(client->start, "match"));
    return send_off(client, ready);
}

enum status join(struct client *client)
{
    if (client->options->wish == NULL || client->start != NULL)
        return FINE;
    client->joining = true;
    return send_off(client, cJSON_Duplicate(client->options->wish, true));
}

/* Begins a new match, or continues one of a resumed session. Takes ownership of the message. */
static enum status begin(struct client *client, cJSON *start)
{
    client->joining = false;
    if (client->start != NULL || field(client->over, text(start, "match")) != NULL) {
        cJSON_Delete(start);
        return FINE;
    }
    client->start = start;
    client->player = client->options->new_player(start, client->options->seed);
    return send_ready(client);
}

static enum status act(struct client *client)
{
    if (client->ask == NULL || cJSON_GetArraySize(client->answers) == 0)
        return FINE;
    cJSON *message = message_of("act"), *part;
    cJSON_AddItemToObject(message, "match", cJSON_Duplicate(field(client->ask, "match"), false));
    cJSON_AddItemToObject(message, "ask", cJSON_Duplicate(field(client->ask, "ask"), false));
    cJSON_ArrayForEach(part, client->answers->child)
        cJSON_AddItemToObject(message, part->string, cJSON_Duplicate(part, true));
    return send_off(client, message);
}

/* Sends the player's answer. If the server refuses it, the first listed move follows, then the fallback. Takes
   ownership of the message. */
static enum status answer(struct client *client, cJSON *ask)
{
    close_ask(client);
    cJSON_Delete(client->answers);
    client->ask = ask;
    client->asked = true;
    client->answers = cJSON_CreateArray();
    cJSON_AddItemToArray(client->answers, client->player->answer(client->player, ask));
    cJSON_AddItemToArray(client->answers, answer_index(0));
    cJSON_AddItemToArray(client->answers, answer_move(field(ask, "fallback")));
    return act(client);
}

static void finish(struct client *client, const char *result)
{
    print_line(stdout, result);
    cJSON_AddTrueToObject(client->over, text(client->start, "match"));
    client->done = client->options->wish != NULL;
    forget_match(client);
}

/* Handles an error. Errors come in the order of the lines that they are about, so one without a match is about the last
   act. */
static enum status mend(struct client *client, const cJSON *error)
{
    const cJSON *match = field(error, "match"), *ask = field(error, "ask");
    bool is_mine = client->start != NULL && (match == NULL || cJSON_Compare(match, field(client->start, "match"), true));
    bool is_open = is_mine && client->ask != NULL
                   && (ask == NULL || cJSON_Compare(ask, field(client->ask, "ask"), true));
    char line[LINE_SIZE];
    for (size_t i = 0; i < sizeof NEEDS_NO_ANSWER / sizeof *NEEDS_NO_ANSWER; i++)
        if (is_code(error, NEEDS_NO_ANSWER[i]))
            return FINE;
    if (is_mine && is_code(error, "server.failed")) {
        snprintf(line, sizeof line, "%s: no result, server.failed", text(client->start, "game"));
        finish(client, line);
        return FINE;
    }
    if (is_open && is_code(error, "server.busy")) {
        sleep_ms(BUSY_PAUSE_MS);
        return act(client);
    }
    if (client->joining)
        return refused(client, "the join was refused", error);
    format_reason(line, sizeof line, is_open ? "the answer was refused" : "the server refused a message", error);
    log_line(client, line);
    if (is_open) {
        cJSON_DeleteItemFromArray(client->answers, 0);
        return act(client);
    }
    return FINE;
}

/* Handles a message about the match. Takes ownership of it. */
static enum status take_of_match(struct client *client, cJSON *message)
{
    char line[LINE_SIZE];
    if (is_type(message, "ask"))
        return answer(client, message);
    if (is_type(message, "event")) {
        client->last_event = number(message, "number");
        if (client->player->event != NULL)
            client->player->event(client->player, field(message, "event"));
    } else if (is_type(message, "ok")) {
        client->attempts = 0;
        close_ask(client);
    } else if (is_type(message, "default")) {
        snprintf(line, sizeof line, "the server moved for this seat: %s", text(message, "reason"));
        log_line(client, line);
        close_ask(client);
    } else if (is_type(message, "end")) {
        format_result(line, sizeof line, client->start, message);
        finish(client, line);
    }
    cJSON_Delete(message);
    return FINE;
}

/* Takes ownership of the message. */
enum status take(struct client *client, cJSON *message)
{
    enum status status = FINE;
    if (is_type(message, "start"))
        return begin(client, message);
    if (is_type(message, "error"))
        status = mend(client, message);
    else if (is_type(message, "pong"))
        status = join(client);
    else if (client->start != NULL && strcmp(text(message, "match"), text(client->start, "match")) == 0)
        return take_of_match(client, message);
    cJSON_Delete(message);
    return status;
}
