/* Texts for people: one line, with '?' for everything except printable ASCII, because the server's texts are not ours.
   */

#ifndef TEXTS_H
#define TEXTS_H

#include <cjson/cJSON.h>
#include <stdio.h>

void print_line(FILE *stream, const char *line);

/* Formats an error or a bye of the server. */
void format_reason(char *line, size_t size, const char *what, const cJSON *message);

/* The result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points. */
void format_result(char *line, size_t size, const cJSON *start, const cJSON *end);

#endif
