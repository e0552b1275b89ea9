/* A connection to the server: over TCP, or over this process's own standard input and output. */

#ifndef CONNECTION_H
#define CONNECTION_H

#include "codec.h"

#define DEFAULT_ADDRESS "tcp://127.0.0.1:7878"
#define STDIO "stdio:"

struct connection {
    int input, output;
    struct lines lines;
};

enum connected { CONNECTED, WRONG_ADDRESS, NOT_CONNECTED };

/* To tcp://HOST:PORT or stdio:. Else `problem` says why not. */
enum connected connection_open(struct connection *connection, const char *address, char *problem, size_t size);

/* In one write: two for one line would wait for each other on the way. False: the connection is gone. */
bool connection_send(struct connection *connection, const cJSON *message);

enum received { RECEIVED, ENDED, WRONG_LINE };

/* The next message, to be deleted. WRONG_LINE: `problem` says what is wrong with what came. */
enum received connection_receive(struct connection *connection, cJSON **message, char *problem, size_t size);

void connection_close(struct connection *connection);

#endif
