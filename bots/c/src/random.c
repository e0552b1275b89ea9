/* The bot `random`: it makes every listed move with the same probability. Its choices depend on the seed, the match and
   the ask, so a bot that resumes chooses the same. */

#include "players.h"

#include <inttypes.h>
#include <stdio.h>

/* FNV-1a */
static uint64_t hashed(uint64_t hash, const char *bytes)
{
    for (; *bytes != '\0'; bytes++)
        hash = (hash ^ (unsigned char)*bytes) * UINT64_C(0x100000001b3);
    return hash;
}

/* The last steps of SplitMix64: all bits of the result depend on all bits of the hash. */
static uint64_t mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

static cJSON *answer(struct player *player, const cJSON *ask)
{
    char place[32];
    snprintf(place, sizeof place, "/%d", number(ask, "ask"));
    uint64_t hash = hashed(UINT64_C(0xcbf29ce484222325), player->seed);
    hash = hashed(hashed(hash, text(player->start, "match")), place);
    int count = cJSON_GetArraySize(field(ask, "legal"));
    return answer_index((int)(mixed(hash) % (uint64_t)count)); /* of 2^64: practically uniform */
}

struct player *new_random(const cJSON *start, const char *seed)
{
    return plain_player(answer, start, seed);
}
