/* Every test is a function. A check that fails prints where, and the others go on. */

#include "codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define CHECK(condition)                                                          \
    do                                                                            \
        if (!(condition)) {                                                       \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, __func__, #condition);  \
            failed++;                                                             \
        }                                                                         \
    while (0)

#define ASK_BEFORE_LEGAL                                                                                  \
    "{\"type\":\"ask\",\"match\":\"m1\",\"ask\":5,\"fallback\":{\"type\":\"complete_tickets\",\"tickets\":[]}," \
    "\"weather\":{\"sky\":[\"gray\",-1.5e3,null]},\"view\":{\"seat\":0,\"turns_left\":0,"                       \
    "\"players\":[{\"hand\":{\"red\":2},\"yard\":[]},{}]},"

static const char ASK[] = ASK_BEFORE_LEGAL "\"legal\":[{\"type\":\"draw_card\"},{\"type\":\"dance\",\"steps\":3}]}";

static cJSON *decoded(const char *line)
{
    char wrong[100] = "";
    cJSON *message = decode(line, strlen(line), wrong, sizeof wrong);
    if (message == NULL)
        printf("%s: %s\n", line, wrong);
    return message;
}

/* Tests whether the message is written like this, with a newline. */
static bool is_written(const cJSON *message, const char *expected)
{
    char *line = encode(message);
    size_t length = strlen(expected);
    bool is_so = strncmp(line, expected, length) == 0 && strcmp(line + length, "\n") == 0;
    if (!is_so)
        printf("expected %s; came %s", expected, line);
    free(line);
    return is_so;
}

static void an_ask_is_read_and_what_is_unknown_in_it_is_ignored(void)
{
    cJSON *ask = decoded(ASK);
    const cJSON *own = cJSON_GetArrayItem(field(field(ask, "view"), "players"), 0);
    CHECK(is_type(ask, "ask"));
    CHECK(number(ask, "ask") == 5);
    CHECK(number(field(own, "hand"), "red") == 2);
    CHECK(number(field(own, "hand"), "blue") == 0);
    CHECK(is_type(cJSON_GetArrayItem(field(ask, "legal"), 1), "dance"));
    cJSON_Delete(ask);
}

static void what_is_absent_is_told_from_what_is_empty(void)
{
    cJSON *ask = decoded(ASK);
    const cJSON *players = field(field(ask, "view"), "players");
    CHECK(field(field(ask, "view"), "turns_left") != NULL);
    CHECK(field(cJSON_GetArrayItem(players, 0), "yard") != NULL);
    CHECK(field(cJSON_GetArrayItem(players, 1), "yard") == NULL);
    CHECK(field(NULL, "yard") == NULL);
    CHECK(*text(cJSON_GetArrayItem(players, 1), "name") == '\0');
    cJSON_Delete(ask);
}

static void a_message_of_an_unknown_type_is_no_error(void)
{
    cJSON *message = decoded("{\"type\":\"weather\",\"match\":7,\"code\":null}");
    CHECK(is_type(message, "weather"));
    cJSON_Delete(message);
}

static void what_is_no_message_is_told_as_such(void)
{
    static const char *const LINES[] = {
        "",
        "hello",
        "null",
        "[]",
        "\"ask\"",
        "{}",
        "{\"type\":3}",
        "{\"type\":\"ok\"",
        "{\"type\":\"ok\"}",
        "{\"type\":\"ok\",\"match\":3}",
        "{\"type\":\"weather\"} and more",
        ASK_BEFORE_LEGAL "\"legal\":[]}",
        ASK_BEFORE_LEGAL "\"was\":[]}",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char wrong[100] = "";
        CHECK(decode(LINES[i], strlen(LINES[i]), wrong, sizeof wrong) == NULL);
        CHECK(*wrong != '\0');
    }
}

static void a_line_that_goes_on_behind_a_null_byte_is_no_message(void)
{
    static const char LINE[] = "{\"type\":\"weather\"}\0,";
    char wrong[100];
    CHECK(decode(LINE, sizeof LINE - 1, wrong, sizeof wrong) == NULL);
}

static void what_was_read_is_written_again_with_empty_lists(void)
{
    cJSON *ask = decoded(ASK);
    CHECK(is_written(field(ask, "fallback"), "{\"type\":\"complete_tickets\",\"tickets\":[]}"));
    cJSON_Delete(ask);
}

static void whole_numbers_are_written_without_a_fraction(void)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddNumberToObject(message, "none", 0);
    cJSON_AddNumberToObject(message, "many", 1e9);
    CHECK(is_written(message, "{\"none\":0,\"many\":1000000000}"));
    cJSON_Delete(message);
}

static void a_message_is_one_line(void)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "note", "a\nb\xe2\x80\xa8\"\xc3\xbc");
    CHECK(is_written(message, "{\"note\":\"a\\nb\xe2\x80\xa8\\\"\xc3\xbc\"}"));
    cJSON_Delete(message);
}

static void an_item_of_the_board_is_found_by_its_id(void)
{
    cJSON *board = cJSON_Parse("{\"routes\":[{\"id\":\"a-b\",\"length\":2},{\"id\":\"a-c\",\"length\":3}]}");
    CHECK(number(by_id(field(board, "routes"), "a-c"), "length") == 3);
    CHECK(by_id(field(board, "routes"), "a") == NULL);
    CHECK(by_id(field(board, "tickets"), "a") == NULL);
    cJSON_Delete(board);
}

/* Reads the lines of a text that comes in pieces of this size, and joins them with '|'. */
static char *joined(const char *bytes, size_t piece)
{
    struct lines lines = {0};
    size_t left = strlen(bytes), room, length;
    char *all = calloc(left + 2, 1), *line;
    while (left > 0) {
        char *next = lines_room(&lines, &room);
        size_t count = piece < left ? piece : left;
        count = count < room ? count : room;
        memcpy(next, bytes, count);
        lines_add(&lines, count);
        bytes += count;
        left -= count;
        while ((line = lines_next(&lines, &length)) != NULL) {
            CHECK(strlen(line) == length);
            strcat(strcat(all, line), "|");
        }
    }
    lines_free(&lines);
    return all;
}

static void lines_are_the_same_however_they_arrive(void)
{
    static const size_t PIECES[] = {1, 3, 1000, 70000, 1000000};
    enum { LONG = 60000 };
    char *bytes = calloc(LONG + 100, 1), *expected = calloc(LONG + 100, 1);
    strcpy(bytes, "first\n\xc3\xbc\xe2\x80\xa8second\r\n\n");
    memset(bytes + strlen(bytes), 'x', LONG);
    strcat(bytes, "\nhalf a line");
    strcpy(expected, bytes);
    *strstr(expected, "half") = '\0';
    for (char *newline; (newline = strchr(expected, '\n')) != NULL;)
        *newline = '|';
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++) {
        char *came = joined(bytes, PIECES[i]);
        CHECK(strcmp(came, expected) == 0);
        free(came);
    }
    free(bytes);
    free(expected);
}

static void a_line_without_an_end_is_not_read_for_ever(void)
{
    struct lines lines = {0};
    size_t room, length, came = 0;
    char *next;
    while (came < 4 << 20 && (next = lines_room(&lines, &room)) != NULL) {
        memset(next, 'x', room);
        lines_add(&lines, room);
        came += room;
        CHECK(lines_next(&lines, &length) == NULL);
    }
    CHECK(came < 4 << 20);
    lines_free(&lines);
}

int main(void)
{
    an_ask_is_read_and_what_is_unknown_in_it_is_ignored();
    what_is_absent_is_told_from_what_is_empty();
    a_message_of_an_unknown_type_is_no_error();
    what_is_no_message_is_told_as_such();
    a_line_that_goes_on_behind_a_null_byte_is_no_message();
    what_was_read_is_written_again_with_empty_lists();
    whole_numbers_are_written_without_a_fraction();
    a_message_is_one_line();
    an_item_of_the_board_is_found_by_its_id();
    lines_are_the_same_however_they_arrive();
    a_line_without_an_end_is_not_read_for_ever();
    printf(failed == 0 ? "all tests passed\n" : "%d checks failed\n", failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
