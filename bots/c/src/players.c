#include "players.h"

#include <stdlib.h>
#include <string.h>

/* Add yours here. */
static const struct {
    const char *name;
    new_player *make;
} PLAYERS[] = {
    {"greedy", new_greedy},
    {"random", new_random},
};

new_player *player_named(const char *name)
{
    for (size_t i = 0; i < sizeof PLAYERS / sizeof *PLAYERS; i++)
        if (strcmp(PLAYERS[i].name, name) == 0)
            return PLAYERS[i].make;
    return NULL;
}

cJSON *answer_index(int index)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddNumberToObject(answer, "index", index);
    return answer;
}

cJSON *answer_move(const cJSON *move)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "move", cJSON_Duplicate(move, true));
    return answer;
}

static void free_plain(struct player *player)
{
    free(player);
}

struct player *plain_player(cJSON *(*answer)(struct player *, const cJSON *), const cJSON *start, const char *seed)
{
    struct player *player = malloc(sizeof *player);
    if (player == NULL)
        abort();
    *player = (struct player){.answer = answer, .free = free_plain, .start = start, .seed = seed};
    return player;
}
