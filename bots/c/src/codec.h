/* Lines and messages. A line is one JSON object, ended by "\n" and by nothing else. */

#ifndef CODEC_H
#define CODEC_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that have come, and lines that are taken from them. All zero to begin with. */
struct lines {
    char *data;
    size_t begin, end, size;
};

/* Where the next bytes go: there is room for at least one. NULL if the line is too long to be one. */
char *lines_room(struct lines *lines, size_t *room);

/* So many bytes have come there. */
void lines_add(struct lines *lines, size_t count);

/* The next line without its newline, good until more bytes come; NULL if it is not complete yet. */
char *lines_next(struct lines *lines, size_t *length);

void lines_free(struct lines *lines);

/* The message's line with its newline, to be written at once and to be freed. */
char *encode(const cJSON *message);

/* The message of a line. If it is none that a client can rely upon: NULL, and in `wrong` what is wrong with it. */
cJSON *decode(const char *line, size_t length, char *wrong, size_t wrong_size);

/* -- reading messages: all take NULL for an object that is not there */

const cJSON *field(const cJSON *object, const char *name);
const char *text(const cJSON *object, const char *name); /* "" if it is absent */
int number(const cJSON *object, const char *name);       /* 0 if it is absent */
bool is_type(const cJSON *message, const char *type);

/* The object with this id in a list of the board. */
const cJSON *by_id(const cJSON *list, const char *id);

#endif
