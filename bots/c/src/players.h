/* What a bot is, and the bots by name. */

#ifndef PLAYERS_H
#define PLAYERS_H

#include "codec.h"

/* Plays one match for one seat. All that an answer depends on should stand in `start` and in the ask: a player that
   remembers more would have lost it after a restart. */
struct player {
    /* Made by answer_index or answer_move. `start` lives as long as the player. */
    cJSON *(*answer)(struct player *player, const cJSON *ask);

    /* One fact of the match; may be NULL. */
    void (*event)(struct player *player, const cJSON *event);

    void (*free)(struct player *player);

    const cJSON *start;
    const char *seed; /* for its chance */
};

typedef struct player *new_player(const cJSON *start, const char *seed);

new_player new_random, new_greedy;

/* NULL if there is no such bot. */
new_player *player_named(const char *name);

/* The answer that makes a listed move; the first has the index 0. */
cJSON *answer_index(int index);

/* The answer that makes any legal move, of which a copy is taken. */
cJSON *answer_move(const cJSON *move);

/* For players without data of their own. */
struct player *plain_player(cJSON *(*answer)(struct player *, const cJSON *), const cJSON *start, const char *seed);

#endif
