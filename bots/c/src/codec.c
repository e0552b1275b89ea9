#include "codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16, LONGEST_LINE = 1 << 20 }; /* a server's lines stay below 60,000 bytes */

typedef cJSON_bool (*is_kind)(const cJSON *);

/* The fields that the client relies on. Other messages and fields may have any form. */
static const struct {
    const char *type, *field;
    is_kind is_kind;
} NEEDED[] = {
    {"hello", "protocols", cJSON_IsArray},
    {"welcome", "session", cJSON_IsString},
    {"welcome", "resume_key", cJSON_IsString},
    {"welcome", "name", cJSON_IsString},
    {"start", "match", cJSON_IsString},
    {"start", "game", cJSON_IsString},
    {"start", "players", cJSON_IsArray},
    {"start", "board", cJSON_IsObject},
    {"event", "match", cJSON_IsString},
    {"event", "number", cJSON_IsNumber},
    {"event", "event", cJSON_IsObject},
    {"ask", "match", cJSON_IsString},
    {"ask", "ask", cJSON_IsNumber},
    {"ask", "fallback", cJSON_IsObject},
    {"ask", "legal", cJSON_IsArray},
    {"ok", "match", cJSON_IsString},
    {"default", "match", cJSON_IsString},
    {"default", "reason", cJSON_IsString},
    {"error", "code", cJSON_IsString},
    {"end", "match", cJSON_IsString},
    {"end", "result", cJSON_IsObject},
    {"bye", "code", cJSON_IsString},
};

char *lines_room(struct lines *lines, size_t *room)
{
    if (lines->begin > 0) {
        memmove(lines->data, lines->data + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    if (lines->end >= LONGEST_LINE)
        return NULL;
    if (lines->size - lines->end < PIECE) {
        lines->size = lines->end + 2 * PIECE;
        lines->data = realloc(lines->data, lines->size);
        if (lines->data == NULL)
            abort();
    }
    *room = lines->size - lines->end;
    return lines->data + lines->end;
}

void lines_add(struct lines *lines, size_t count)
{
    lines->end += count;
}

char *lines_next(struct lines *lines, size_t *length)
{
    if (lines->begin == lines->end)
        return NULL;
    char *line = lines->data + lines->begin;
    char *newline = memchr(line, '\n', lines->end - lines->begin);
    if (newline == NULL)
        return NULL;
    *newline = '\0';
    *length = (size_t)(newline - line);
    lines->begin += *length + 1;
    return line;
}

void lines_free(struct lines *lines)
{
    free(lines->data);
    *lines = (struct lines){0};
}

char *encode(const cJSON *message)
{
    char *json = cJSON_PrintUnformatted(message);
    size_t length = json == NULL ? 0 : strlen(json);
    char *line = malloc(length + 2);
    if (json == NULL || line == NULL)
        abort();
    memcpy(line, json, length);
    memcpy(line + length, "\n", 2);
    cJSON_free(json);
    return line;
}

/* Returns what is wrong with the message, or NULL. */
static const char *lacking(const cJSON *message)
{
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (is_type(message, NEEDED[i].type) && !NEEDED[i].is_kind(field(message, NEEDED[i].field)))
            return NEEDED[i].field;
    if (is_type(message, "ask") && cJSON_GetArraySize(field(message, "legal")) == 0)
        return "legal";
    return NULL;
}

cJSON *decode(const char *line, size_t length, char *wrong, size_t wrong_size)
{
    bool is_text = memchr(line, '\0', length) == NULL; /* cJSON would stop there */
    cJSON *message = is_text ? cJSON_ParseWithOpts(line, NULL, true) : NULL;
    if (!cJSON_IsObject(message) || !cJSON_IsString(field(message, "type"))) {
        snprintf(wrong, wrong_size, "no object with a type: %.80s", line);
        cJSON_Delete(message);
        return NULL;
    }
    const char *lack = lacking(message);
    if (lack != NULL) {
        snprintf(wrong, wrong_size, "%s without a valid %s", text(message, "type"), lack);
        cJSON_Delete(message);
        return NULL;
    }
    return message;
}

const cJSON *field(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *text(const cJSON *object, const char *name)
{
    const char *value = cJSON_GetStringValue(field(object, name));
    return value == NULL ? "" : value;
}

int number(const cJSON *object, const char *name)
{
    const cJSON *value = field(object, name);
    return cJSON_IsNumber(value) ? value->valueint : 0;
}

bool is_type(const cJSON *message, const char *type)
{
    return strcmp(text(message, "type"), type) == 0;
}

const cJSON *by_id(const cJSON *list, const char *id)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) if (strcmp(text(item, "id"), id) == 0) return item;
    return NULL;
}
