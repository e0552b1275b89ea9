/* The inside of a client: the part that client.c, which keeps the connection, shares with match.c, which plays. */

#ifndef SESSION_H
#define SESSION_H

#include "client.h"
#include "connection.h"

enum { LINE_SIZE = 1024 };

/* LOST: the connection is lost, and another one may help. STOPPED: nothing helps. `problem` has the reason. */
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
    bool asked;     /* if true, the server knows that this seat is ready */
    cJSON *ask;     /* the open one */
    cJSON *answers; /* the one sent, then those to try after it */

    char problem[LINE_SIZE];
    int exit_code;
    int retry_ms; /* when to come back; -1 if the server named no time */
};

/* -- client.c */

enum status send_off(struct client *client, cJSON *message); /* takes ownership of the message */
cJSON *message_of(const char *type);
enum status refused(struct client *client, const char *what, const cJSON *message);
bool is_code(const cJSON *message, const char *code);
void log_line(const struct client *client, const char *what);
void sleep_ms(int milliseconds);

/* -- match.c */

enum status take(struct client *client, cJSON *message); /* handles a message after the login; takes ownership of it */
enum status join(struct client *client);                 /* if there is a wish, and no match */
enum status send_ready(struct client *client);
void forget_match(struct client *client);

#endif
