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

/* Connects to tcp://HOST:PORT or stdio:. On failure `problem` has the reason. */
enum connected connection_open(struct connection *connection, const char *address, char *problem, size_t size);

/* Sends a message in one write: two for one line would wait for each other on the network. False: the connection is
   lost. */
bool connection_send(struct connection *connection, const cJSON *message);

enum received { RECEIVED, ENDED, WRONG_LINE };

/* Reads the next message, to be deleted. WRONG_LINE: `problem` describes what is wrong with the line. */
enum received connection_receive(struct connection *connection, cJSON **message, char *problem, size_t size);

void connection_close(struct connection *connection);

#endif
