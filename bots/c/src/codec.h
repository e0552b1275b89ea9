/* Lines and messages. A line is one JSON object, which ends with "\n" and nothing else. */

#ifndef CODEC_H
#define CODEC_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that have arrived, and the lines in them. Initially all zero. */
struct lines {
    char *data;
    size_t begin, end, size;
};

/* Returns the place for the next bytes, with room for at least one. NULL if the line is too long. */
char *lines_room(struct lines *lines, size_t *room);

/* Notes that this number of bytes has arrived there. */
void lines_add(struct lines *lines, size_t count);

/* Returns the next line without its newline, valid until more bytes come; NULL if it is not complete yet. */
char *lines_next(struct lines *lines, size_t *length);

void lines_free(struct lines *lines);

/* Returns the message's line with its newline, to be written at once and freed. */
char *encode(const cJSON *message);

/* Returns the message of a line. If a client cannot rely on it, returns NULL, and writes into `wrong` what is wrong. */
cJSON *decode(const char *line, size_t length, char *wrong, size_t wrong_size);

/* -- reading messages: all accept NULL for a missing object */

const cJSON *field(const cJSON *object, const char *name);
const char *text(const cJSON *object, const char *name); /* "" if it is absent */
int number(const cJSON *object, const char *name);       /* 0 if it is absent */
bool is_type(const cJSON *message, const char *type);

/* Returns the object with this id in a list of the board. */
const cJSON *by_id(const cJSON *list, const char *id);

#endif
