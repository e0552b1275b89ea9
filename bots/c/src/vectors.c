#include "vectors.h"

#include "client.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns false if the bot answers differently. */
static bool answers_as_recorded(struct player *greedy, const cJSON *row, const char *file, int line)
{
    cJSON *came = greedy->answer(greedy, field(row, "ask"));
    int expected = number(field(row, "answer"), "index");
    bool is_same = number(came, "index") == expected;
    if (!is_same)
        fprintf(stderr, "%s: line %d: expected index %d; came %d\n", file, line, expected, number(came, "index"));
    cJSON_Delete(came);
    return is_same;
}

int answer_vectors(const char *file)
{
    FILE *stream = fopen(file, "r");
    struct player *greedy = NULL;
    cJSON *start_row = NULL;
    char *text_of_row = NULL;
    size_t size = 0;
    int asks = 0, exit_code = EXIT_PLAYED;
    if (stream == NULL) {
        perror(file);
        return EXIT_REFUSED;
    }
    for (int line = 1; exit_code == EXIT_PLAYED && getline(&text_of_row, &size, stream) > 0; line++) {
        cJSON *row = cJSON_Parse(text_of_row);
        if (field(row, "start") != NULL) {
            if (greedy != NULL)
                greedy->free(greedy);
            cJSON_Delete(start_row);
            start_row = row;
            greedy = new_greedy(field(row, "start"), "");
        } else if (greedy != NULL && field(row, "ask") != NULL) {
            asks++;
            exit_code = answers_as_recorded(greedy, row, file, line) ? EXIT_PLAYED : EXIT_REFUSED;
            cJSON_Delete(row);
        } else {
            fprintf(stderr, "%s: line %d: neither a start nor an ask\n", file, line);
            exit_code = EXIT_REFUSED;
            cJSON_Delete(row);
        }
    }
    if (greedy != NULL)
        greedy->free(greedy);
    cJSON_Delete(start_row);
    free(text_of_row);
    fclose(stream);
    if (exit_code == EXIT_PLAYED)
        printf("%s: %d asks answered as recorded\n", file, asks);
    return asks == 0 ? EXIT_REFUSED : exit_code;
}
