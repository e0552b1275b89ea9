/* The interface of a bot, and the bots by name. */

#ifndef PLAYERS_H
#define PLAYERS_H

#include "codec.h"

/* Plays one match for one seat. An answer should depend only on `start` and on the ask: a restart loses everything that
   a player remembers. */
struct player {
    /* Made by answer_index or answer_move. `start` lives as long as the player. */
    cJSON *(*answer)(struct player *player, const cJSON *ask);

    /* One fact of the match; may be NULL. */
    void (*event)(struct player *player, const cJSON *event);

    void (*free)(struct player *player);

    const cJSON *start;
    const char *seed; /* for its random choices */
};

typedef struct player *new_player(const cJSON *start, const char *seed);

new_player new_random, new_greedy;

/* NULL if there is no such bot. */
new_player *player_named(const char *name);

/* Returns the answer that makes a listed move; the first has the index 0. */
cJSON *answer_index(int index);

/* Returns the answer that makes any legal move, which is copied. */
cJSON *answer_move(const cJSON *move);

/* For players without their own data. */
struct player *plain_player(cJSON *(*answer)(struct player *, const cJSON *), const cJSON *start, const char *seed);

#endif
