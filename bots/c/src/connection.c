#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { CONNECT_SECONDS = 10, HOST_SIZE = 256 };

/* "tcp://HOST:PORT", or "tcp://[HOST]:PORT" for an address with colons */
static bool parts_of(const char *address, char host[HOST_SIZE], char port[6])
{
    const char *colon = strrchr(address, ':');
    if (strncmp(address, "tcp://", 6) != 0 || colon < address + 7)
        return false;
    const char *begin = address + 6, *end = colon;
    if (*begin == '[' && end[-1] == ']') {
        begin++;
        end--;
    }
    size_t length = (size_t)(end - begin), digits = strspn(colon + 1, "0123456789");
    int value = digits > 5 ? 0 : atoi(colon + 1);
    if (length == 0 || length >= HOST_SIZE || colon[1 + digits] != '\0' || value < 1 || value > 65535)
        return false;
    memcpy(host, begin, length);
    host[length] = '\0';
    snprintf(port, 6, "%d", value);
    return true;
}

static void set_send_time(int descriptor, int seconds)
{
    struct timeval time = {.tv_sec = seconds};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

/* A socket, or -1 and errno. */
static int connected_to(const struct addrinfo *place)
{
    int descriptor = socket(place->ai_family, place->ai_socktype, place->ai_protocol), on = 1;
    if (descriptor < 0)
        return -1;
    set_send_time(descriptor, CONNECT_SECONDS); /* also limits the time to connect */
    if (connect(descriptor, place->ai_addr, place->ai_addrlen) != 0) {
        int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    set_send_time(descriptor, 0);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* detects a peer that died silently */
    return descriptor;
}

/* Reserves standard output for the messages. Output of a player goes to standard error. */
static enum connected open_stdio(struct connection *connection)
{
    *connection = (struct connection){.input = STDIN_FILENO, .output = dup(STDOUT_FILENO)};
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return CONNECTED;
}

enum connected connection_open(struct connection *connection, const char *address, char *problem, size_t size)
{
    if (strcmp(address, STDIO) == 0)
        return open_stdio(connection);
    char host[HOST_SIZE], port[6];
    if (!parts_of(address, host, port)) {
        snprintf(problem, size, "not an address:  %s; it is tcp://HOST:PORT or " STDIO, address);
        return WRONG_ADDRESS;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *places;
    int unknown = getaddrinfo(host, port, &hints, &places), descriptor = -1;
    if (unknown != 0) {
        snprintf(problem, size, "cannot connect to %s: %s", address, gai_strerror(unknown));
        return NOT_CONNECTED;
    }
    for (struct addrinfo *place = places; place != NULL && descriptor < 0; place = place->ai_next)
        descriptor = connected_to(place);
    if (descriptor < 0)
        snprintf(problem, size, "cannot connect to %s: %s", address, strerror(errno));
    freeaddrinfo(places);
    *connection = (struct connection){.input = descriptor, .output = descriptor};
    return descriptor < 0 ? NOT_CONNECTED : CONNECTED;
}

bool connection_send(struct connection *connection, const cJSON *message)
{
    char *line = encode(message);
    size_t length = strlen(line), sent = 0;
    while (sent < length) { /* once, unless the system accepts only a part */
        ssize_t count = write(connection->output, line + sent, length - sent);
        if (count < 0 && errno != EINTR)
            break;
        sent += count < 0 ? 0 : (size_t)count;
    }
    free(line);
    return sent == length;
}

enum received connection_receive(struct connection *connection, cJSON **message, char *problem, size_t size)
{
    size_t length, room;
    char *line;
    while ((line = lines_next(&connection->lines, &length)) == NULL) {
        char *next = lines_room(&connection->lines, &room);
        if (next == NULL) {
            snprintf(problem, size, "a line that does not end");
            return WRONG_LINE;
        }
        ssize_t count = read(connection->input, next, room);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return ENDED; /* a cut connection leaves half a line */
        lines_add(&connection->lines, (size_t)count);
    }
    *message = decode(line, length, problem, size);
    return *message == NULL ? WRONG_LINE : RECEIVED;
}

void connection_close(struct connection *connection)
{
    if (connection->input != STDIN_FILENO)
        close(connection->input);
    lines_free(&connection->lines);
}
