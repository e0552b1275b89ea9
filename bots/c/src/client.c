#include "session.h"

#include "texts.h"

#include <string.h>
#include <time.h>

enum {
    PROTOCOL = 1,
    ATTEMPTS = 12,        /* to connect, in a row, without an accepted answer: over half a minute */
    FIRST_PAUSE_MS = 100, /* between two of them, doubled each time */
    LONGEST_PAUSE_MS = 5000,
};

static const char *const COME_BACK[] = {
    "server.shutting_down", "server.too_slow", "server.full", "server.busy",
};

void sleep_ms(int milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

bool is_code(const cJSON *message, const char *code)
{
    return strcmp(text(message, "code"), code) == 0;
}

void log_line(const struct client *client, const char *what)
{
    char line[LINE_SIZE + 64];
    snprintf(line, sizeof line, "%s: %s", client->options->bot, what);
    print_line(stderr, line);
}

static enum status lost(struct client *client)
{
    snprintf(client->problem, LINE_SIZE, "the connection is lost");
    client->retry_ms = -1;
    return LOST;
}

enum status refused(struct client *client, const char *what, const cJSON *message)
{
    format_reason(client->problem, LINE_SIZE, what, message);
    client->exit_code = EXIT_REFUSED;
    return STOPPED;
}

static enum status not_stellwerk(struct client *client, const char *why)
{
    snprintf(client->problem, LINE_SIZE, "this is not a Stellwerk server: %s", why);
    client->exit_code = EXIT_REFUSED;
    return STOPPED;
}

enum status send_off(struct client *client, cJSON *message)
{
    bool sent = connection_send(&client->connection, message);
    cJSON_Delete(message);
    return sent ? FINE : lost(client);
}

cJSON *message_of(const char *type)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "type", type);
    return message;
}

static enum status leave(struct client *client, const cJSON *bye)
{
    bool all_played = client->session != NULL && client->start == NULL && client->options->wish == NULL;
    enum status status = refused(client, "the server sent bye", bye);
    for (size_t i = 0; i < sizeof COME_BACK / sizeof *COME_BACK; i++)
        if (is_code(bye, COME_BACK[i])) {
            client->retry_ms = field(bye, "retry_ms") == NULL ? -1 : number(bye, "retry_ms");
            return LOST;
        }
    client->done = all_played && is_code(bye, "done");
    return client->done ? FINE : status;
}

/* Handles bye. It is FINE only if all matches were played. */
static enum status receive(struct client *client, cJSON **message)
{
    char wrong[LINE_SIZE / 2];
    switch (connection_receive(&client->connection, message, wrong, sizeof wrong)) {
    case ENDED:
        return lost(client);
    case WRONG_LINE:
        return not_stellwerk(client, wrong);
    case RECEIVED:
        break;
    }
    if (!is_type(*message, "bye"))
        return FINE;
    enum status status = leave(client, *message);
    if (status != FINE)
        cJSON_Delete(*message);
    return status;
}

static enum status send_login(struct client *client)
{
    const struct options *options = client->options;
    cJSON *login = message_of("login");
    cJSON_AddNumberToObject(login, "protocol", PROTOCOL);
    cJSON_AddStringToObject(login, "name", client->session == NULL ? options->name : text(client->session, "name"));
    cJSON_AddStringToObject(login, "language", "C");
    if (options->token != NULL)
        cJSON_AddStringToObject(login, "token", options->token);
    if (client->session != NULL) {
        cJSON *resume = cJSON_AddObjectToObject(login, "resume");
        cJSON_AddStringToObject(resume, "session", text(client->session, "session"));
        cJSON_AddStringToObject(resume, "key", text(client->session, "resume_key"));
        cJSON *last_events = cJSON_AddObjectToObject(resume, "last_events");
        if (client->start != NULL)
            cJSON_AddNumberToObject(last_events, text(client->start, "match"), client->last_event);
    }
    return send_off(client, login);
}

/* The server sends the matches of a session before it answers a ping. Then the client knows whether to join. Takes
   ownership of the message. */
static enum status enter(struct client *client, cJSON *welcome, bool is_fresh)
{
    enum status status = FINE;
    cJSON_Delete(client->session);
    client->session = welcome; /* with its name: with a seat token the server uses the seat's name */
    if (client->start != NULL && !client->asked)
        status = send_ready(client); /* it may have been lost; a second one is harmless */
    if (status == FINE)
        status = is_fresh ? join(client) : send_off(client, message_of("ping"));
    return status;
}

/* Handles the answer to a login. Takes ownership of the message. */
static enum status take_of_login(struct client *client, cJSON *message, bool is_fresh)
{
    enum status status = FINE;
    if (is_type(message, "welcome"))
        return enter(client, message, is_fresh);
    if (is_type(message, "error")) {
        bool is_forgotten = client->session != NULL && is_code(message, "auth.bad_resume_key");
        if (is_forgotten) { /* its match is lost, unless the token brings it back with a new start */
            cJSON_Delete(client->session);
            client->session = NULL;
            forget_match(client);
            status = send_login(client);
        } else {
            status = refused(client, "the login was refused", message);
        }
    }
    cJSON_Delete(message);
    return status;
}

/* Goes from hello to the end of the match of the wish, or of the connection. */
static enum status play(struct client *client)
{
    enum { GREETING, LOGIN, IN } phase = GREETING;
    enum status status = FINE;
    /* otherwise it may already be in a match */
    bool is_fresh = client->session == NULL && client->options->token == NULL;
    cJSON *message, *version;
    client->joining = false;
    while (status == FINE && !client->done && (status = receive(client, &message)) == FINE) {
        switch (phase) {
        case GREETING:
            status = not_stellwerk(client, is_type(message, "hello") ? "not of protocol 1" : "it sent no hello");
            cJSON_ArrayForEach(version, field(message, "protocols")) if (version->valueint == PROTOCOL) status = FINE;
            status = status == FINE ? send_login(client) : status;
            phase = LOGIN;
            cJSON_Delete(message);
            break;
        case LOGIN:
            phase = is_type(message, "welcome") ? IN : LOGIN;
            status = take_of_login(client, message, is_fresh);
            break;
        case IN:
            status = take(client, message);
            break;
        }
    }
    return status;
}

static enum status connect_and_play(struct client *client)
{
    switch (connection_open(&client->connection, client->options->address, client->problem, LINE_SIZE)) {
    case WRONG_ADDRESS:
        client->exit_code = EXIT_USAGE;
        return STOPPED;
    case NOT_CONNECTED:
        client->exit_code = EXIT_NO_SERVER;
        client->retry_ms = -1;
        return client->session == NULL ? STOPPED : LOST;
    case CONNECTED:
        break;
    }
    enum status status = play(client);
    connection_close(&client->connection);
    return status;
}

/* Tests whether to connect once more, after a pause. */
static bool comes_back(struct client *client)
{
    bool is_stdio = strcmp(client->options->address, STDIO) == 0;
    client->attempts++;
    client->exit_code = EXIT_NO_SERVER;
    if (is_stdio && client->session != NULL && client->options->wish == NULL && client->start == NULL)
        client->exit_code = EXIT_PLAYED; /* the end of input means bye */
    if (is_stdio || client->attempts >= ATTEMPTS)
        return false;
    char line[LINE_SIZE + 32];
    snprintf(line, sizeof line, "%s; trying again", client->problem);
    log_line(client, line);
    int pause_ms = FIRST_PAUSE_MS << (client->attempts - 1);
    pause_ms = pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS;
    sleep_ms(client->retry_ms >= 0 ? client->retry_ms : pause_ms);
    return true;
}

int client_run(const struct options *options)
{
    struct client client = {.options = options, .over = cJSON_CreateObject()};
    enum status status;
    do
        status = connect_and_play(&client);
    while (status == LOST && comes_back(&client));
    int exit_code = status == FINE ? EXIT_PLAYED : client.exit_code;
    if (exit_code != EXIT_PLAYED)
        print_line(stderr, client.problem);
    forget_match(&client);
    cJSON_Delete(client.session);
    cJSON_Delete(client.over);
    return exit_code;
}
