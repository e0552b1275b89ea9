// A bot for Stellwerk. With --game it joins a match. Without it, it plays wherever the server seats it; a server starts
// bots that way. Exit codes: 0 played, 1 refused, 2 usage, 4 no server.
package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const usage = `usage: stellwerk-bot NAME [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                     [--game G --players N --option X --against a,b,c --seed S --room R --seat K]
       stellwerk-bot vectors FILE

NAME is random or greedy. --option may be repeated. An address is tcp://HOST:PORT, tls://HOST:PORT or
stdio:. Defaults come from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the bot leaves to chance follows
from STELLWERK_BOT_SEED.`

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, printable(err.Error()))
	var refused *ClientError
	if !errors.As(err, &refused) {
		os.Exit(exitRefused)
	}
	if refused.ExitCode == exitUsage {
		fmt.Fprintln(os.Stderr, usage)
	}
	os.Exit(refused.ExitCode)
}

func run(words []string) error {
	if len(words) == 0 {
		return &ClientError{"which bot?", exitUsage}
	}
	name, words := words[0], words[1:]
	switch {
	case name == "-h" || name == "--help":
		fmt.Println(usage)
		return nil
	case name == "vectors" && len(words) == 1:
		asks, err := answerVectors(words[0])
		if err == nil {
			fmt.Printf("%s: %d asks answered as recorded\n", words[0], asks)
		}
		return err
	case players[name] == nil:
		return &ClientError{"not a bot: " + name, exitUsage}
	}
	client, err := clientOf(name, words)
	if err != nil {
		return err
	}
	return client.Run()
}

func clientOf(name string, words []string) (*Client, error) {
	var join Join
	var against string
	client := &Client{
		NewPlayer: players[name],
		Seed:      cmp.Or(os.Getenv("STELLWERK_BOT_SEED"), rand.Text()),
		Print:     func(text string) { fmt.Println(printable(text)) },
		Log:       func(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", name, printable(text)) },
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error describes what is wrong
	flags.StringVar(&client.Address, "address", cmp.Or(os.Getenv("STELLWERK_ADDRESS"), defaultAddress), "")
	flags.StringVar(&client.Name, "name", cmp.Or(os.Getenv("STELLWERK_NAME"), name+"-"+rand.Text()[:6]), "")
	flags.StringVar(&client.Token, "token", os.Getenv("STELLWERK_TOKEN"), "")
	flags.StringVar(&join.Game, "game", "", "")
	flags.IntVar(&join.Players, "players", 0, "")
	flags.Func("option", "", func(option string) error { join.Options = append(join.Options, option); return nil })
	flags.StringVar(&against, "against", "", "")
	flags.StringVar(&join.Seed, "seed", "", "")
	flags.StringVar(&join.Room, "room", "", "")
	seat := flags.Int("seat", -1, "")
	if err := flags.Parse(words); err != nil {
		return nil, &ClientError{err.Error(), exitUsage}
	}
	if flags.NArg() > 0 {
		return nil, &ClientError{"not an option: " + flags.Arg(0), exitUsage}
	}
	if join.Game != "" {
		client.Wish = completed(&join, against, *seat)
	}
	return client, nil
}

func completed(join *Join, against string, seat int) *Join {
	join.Type = "join"
	if against != "" {
		join.Against = strings.Split(against, ",")
	}
	if seat >= 0 {
		join.Seat = &seat
	}
	join.Players = cmp.Or(join.Players, max(2, len(join.Against)+1))
	return join
}
