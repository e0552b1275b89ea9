/* A bot for Stellwerk. With --game it joins a match. Without it, it plays wherever the server seats it; a server starts
   bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server. */

#include "client.h"
#include "connection.h"
#include "texts.h"
#include "vectors.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: stellwerk-bot NAME [--address tcp://127.0.0.1:7878] [--name N] [--token T]\n"
    "                     [--game G --players N --option X --against a,b,c --seed S --room R --seat K]\n"
    "       stellwerk-bot vectors FILE\n\n"
    "NAME is random or greedy. --option may be repeated. An address is tcp://HOST:PORT or stdio:.\n"
    "Defaults come from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the bot leaves to chance follows\n"
    "from STELLWERK_BOT_SEED.\n";

static void refuse(const char *what, const char *word)
{
    char line[256];
    snprintf(line, sizeof line, "%s: %s", what, word);
    print_line(stderr, line);
    fputs(USAGE, stderr);
    exit(EXIT_USAGE);
}

static int number_of(const char *word)
{
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (*word == '\0' || *end != '\0' || errno != 0 || value < 0 || value > INT_MAX)
        refuse("not a number", word);
    return (int)value;
}

/* Different at each start, which is enough for a name. */
static unsigned long by_chance(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long)now.tv_nsec * 2654435761UL ^ (unsigned long)now.tv_sec ^ (unsigned long)getpid() << 16;
}

static const char *variable(const char *name, const char *if_unset)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? if_unset : value;
}

/* Returns the names of a list "a,b,c". */
static cJSON *names_of(char *list)
{
    cJSON *names = cJSON_CreateArray();
    for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
        cJSON_AddItemToArray(names, cJSON_CreateString(name));
    return names;
}

/* Sets an option of the match to join; returns false if there is no such option. */
static bool add_to_wish(cJSON *wish, const char *option, char *value)
{
    if (strcmp(option, "--game") == 0)
        cJSON_AddStringToObject(wish, "game", value);
    else if (strcmp(option, "--players") == 0)
        cJSON_AddNumberToObject(wish, "players", number_of(value));
    else if (strcmp(option, "--seat") == 0)
        cJSON_AddNumberToObject(wish, "seat", number_of(value));
    else if (strcmp(option, "--seed") == 0)
        cJSON_AddStringToObject(wish, "seed", value);
    else if (strcmp(option, "--room") == 0)
        cJSON_AddStringToObject(wish, "room", value);
    else if (strcmp(option, "--against") == 0)
        cJSON_AddItemToObject(wish, "against", names_of(value));
    else if (strcmp(option, "--option") == 0) {
        cJSON *given = cJSON_GetObjectItemCaseSensitive(wish, "options");
        cJSON *options = given != NULL ? given : cJSON_AddArrayToObject(wish, "options");
        cJSON_AddItemToArray(options, cJSON_CreateString(value));
    } else
        return false;
    return true;
}

static void complete(struct options *options)
{
    int others = cJSON_GetArraySize(field(options->wish, "against"));
    if (field(options->wish, "game") == NULL) {
        cJSON_Delete(options->wish);
        options->wish = NULL;
    } else if (field(options->wish, "players") == NULL)
        cJSON_AddNumberToObject(options->wish, "players", others > 0 ? others + 1 : 2);
}

int main(int count, char **words)
{
    const char *bot = count > 1 ? words[1] : "";
    if (strcmp(bot, "-h") == 0 || strcmp(bot, "--help") == 0) {
        fputs(USAGE, stdout);
        return EXIT_PLAYED;
    }
    if (strcmp(bot, "vectors") == 0 && count == 3)
        return answer_vectors(words[2]);
    if (player_named(bot) == NULL)
        refuse("not a bot", bot);

    char name[40], seed[32];
    snprintf(name, sizeof name, "%.24s-%06lx", bot, by_chance() & 0xffffff);
    snprintf(seed, sizeof seed, "%lx", by_chance());
    struct options options = {
        .bot = bot,
        .new_player = player_named(bot),
        .address = variable("STELLWERK_ADDRESS", DEFAULT_ADDRESS),
        .name = variable("STELLWERK_NAME", name),
        .token = variable("STELLWERK_TOKEN", NULL),
        .seed = variable("STELLWERK_BOT_SEED", seed),
        .wish = cJSON_CreateObject(),
    };
    cJSON_AddStringToObject(options.wish, "type", "join");
    for (int i = 2; i < count; i += 2) {
        if (i + 1 == count)
            refuse("this needs a value", words[i]);
        if (strcmp(words[i], "--address") == 0)
            options.address = words[i + 1];
        else if (strcmp(words[i], "--name") == 0)
            options.name = words[i + 1];
        else if (strcmp(words[i], "--token") == 0)
            options.token = words[i + 1];
        else if (!add_to_wish(options.wish, words[i], words[i + 1]))
            refuse("not an option", words[i]);
    }
    complete(&options);
    signal(SIGPIPE, SIG_IGN); /* write reports a lost connection */
    int exit_code = client_run(&options);
    cJSON_Delete(options.wish);
    return exit_code;
}
