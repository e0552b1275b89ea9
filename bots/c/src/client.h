/* A client: it logs in, takes a seat, and asks a player for the answers, match by match.

   The law: no action of the server ends in a crash. The client ignores unknown messages and fields, because servers
   gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects again and
   resumes the session. If it cannot continue, it prints one line. It plays one match at a time, because a login
   without a number asks for no more. */

#ifndef CLIENT_H
#define CLIENT_H

#include "players.h"

enum { EXIT_PLAYED = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 4 };

struct options {
    const char *bot, *address, *name, *token, *seed; /* token may be NULL */
    new_player *new_player;
    cJSON *wish; /* the match to join; if it is NULL the client plays wherever the server seats it, until bye */
};

/* Plays the match of the wish, or all that come. If it cannot, prints the reason to standard error. Returns the exit
   code. */
int client_run(const struct options *options);

#endif
