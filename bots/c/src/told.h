/* What people read: one line, with '?' for all but printable ASCII, for the server's texts are not ours. */

#ifndef TOLD_H
#define TOLD_H

#include <cjson/cJSON.h>
#include <stdio.h>

void tell(FILE *stream, const char *line);

/* What the server said, an error or a goodbye. */
void tell_reason(char *line, size_t size, const char *what, const cJSON *said);

/* How a match ended, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their points. */
void tell_result(char *line, size_t size, const cJSON *start, const cJSON *end);

#endif
