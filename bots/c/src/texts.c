#include "texts.h"

#include "codec.h"

#include <stdarg.h>
#include <string.h>

void print_line(FILE *stream, const char *line)
{
    for (; *line != '\0'; line++)
        fputc(*line >= ' ' && *line <= '~' ? *line : '?', stream);
    fputc('\n', stream);
    fflush(stream);
}

void format_reason(char *line, size_t size, const char *what, const cJSON *message)
{
    const char *pointer = text(message, "pointer");
    const char *at = *pointer == '\0' ? "" : " at ";
    snprintf(line, size, "%s: %s%s%s: %s", what, text(message, "code"), at, pointer, text(message, "expected"));
}

static void append(char *line, size_t size, const char *format, ...)
{
    size_t length = strlen(line);
    va_list values;
    va_start(values, format);
    vsnprintf(line + length, size - length, format, values);
    va_end(values);
}

static const char *name_of(const cJSON *start, const cJSON *seat)
{
    const cJSON *player;
    cJSON_ArrayForEach(player, field(start, "players"))
        if (cJSON_IsNumber(seat) && number(player, "seat") == seat->valueint) return text(player, "name");
    return "?";
}

void format_result(char *line, size_t size, const cJSON *start, const cJSON *end)
{
    const cJSON *teams = field(field(end, "result"), "teams"), *team, *seat;
    const char *separator = ": ";
    snprintf(line, size, "%s", text(start, "game"));
    for (int rank = 1; rank <= cJSON_GetArraySize(teams); rank++)
        cJSON_ArrayForEach(team, teams)
        {
            if (number(team, "rank") != rank)
                continue;
            append(line, size, "%s%d. ", separator, rank);
            separator = "";
            cJSON_ArrayForEach(seat, field(team, "seats"))
            {
                append(line, size, "%s%s", separator, name_of(start, seat));
                separator = " and ";
            }
            append(line, size, " %d", number(team, "points"));
            separator = ", ";
        }
}
