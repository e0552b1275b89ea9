/* The inside of a client: what client.c, which keeps the connection, and match.c, which plays, have in common. */

#ifndef SESSION_H
#define SESSION_H

#include "client.h"
#include "connection.h"

enum { LINE_SIZE = 1024 };

/* LOST: the connection is gone, and another may help. STOPPED: nothing helps. `problem` says why. */
enum status { FINE, LOST, STOPPED };

struct client {
    const struct options *options;
    struct connection connection;
    cJSON *session; /* the newest welcome */
    cJSON *over;    /* matches that have ended, as the names of an object */
    bool joining, done;
    int attempts;

    cJSON *start; /* of the match; NULL if there is none */
    struct player *player;
    int last_event;
    bool asked;     /* since then the server knows that this seat is ready */
    cJSON *ask;     /* the open one */
    cJSON *answers; /* the one sent, then those to try after it */

    char problem[LINE_SIZE];
    int exit_code;
    int retry_ms; /* when the server wants to be visited again; -1 if it did not say */
};

/* -- client.c */

enum status send_off(struct client *client, cJSON *message); /* takes the message over */
cJSON *message_of(const char *type);
enum status refused(struct client *client, const char *what, const cJSON *said);
bool is_code(const cJSON *message, const char *code);
void log_line(const struct client *client, const char *what);
void sleep_ms(int milliseconds);

/* -- match.c */

enum status take(struct client *client, cJSON *message); /* a message after the login; takes it over */
enum status join(struct client *client);                 /* if there is a wish, and no match */
enum status send_ready(struct client *client);
void forget_match(struct client *client);

#endif
