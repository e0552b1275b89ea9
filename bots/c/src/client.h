/* A client: it logs in, takes a seat, and asks a player for the answers, match by match.

   The law: what the server does never ends in a crash. Unknown messages and fields are ignored, for servers grow; a
   refused answer is followed by a harmless one; a lost connection is made anew, and the session goes on where it was.
   What cannot be mended is told in one line. It plays one match at a time, for a login that names no number asks for
   no more. */

#ifndef CLIENT_H
#define CLIENT_H

#include "players.h"

enum { EXIT_PLAYED = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 4 };

struct options {
    const char *bot, *address, *name, *token, *seed; /* token may be NULL */
    new_player *new_player;
    cJSON *wish; /* the match to ask for; if it is NULL the client plays where the server seats it, until bye */
};

/* Plays the match of the wish, or all that come; tells on standard error if that cannot be. Gives the exit code. */
int client_run(const struct options *options);

#endif
