package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Client logs in, takes a seat, and asks a player for the answers, match by match.
//
// The law: no action of the server ends in a panic. The client ignores unknown messages and fields, because servers
// gain new ones. If an answer is refused, it sends a harmless one. If the connection is lost, it connects again and
// resumes the session. If it cannot continue, it returns a ClientError of one line. It does not catch errors of the
// player, because the author wants to see them.
type Client struct {
	Address   string
	Name      string
	Token     string
	NewPlayer NewPlayer
	Seed      string
	Wish      *Join // the match to join; without one it plays wherever the server seats it, until bye
	Print     func(text string)
	Log       func(text string)

	connection *Connection
	session    *Welcome
	matches    map[string]*match
	over       map[string]bool
	acted      *match // the match whose act was sent last
	joining    bool
	done       bool
	attempts   int
}

type match struct {
	start     *Start
	player    Player
	lastEvent int
	asked     bool // if true, the server knows that this seat is ready
	ask       *Ask // the open one
	answers   []Answer
}

const (
	protocol     = 1
	mostAttempts = 12 // to connect, in a row, without an accepted answer: more than half a minute
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	busyPause    = time.Second
)

var comeBack = []string{"server.shutting_down", "server.too_slow", "server.full", "server.busy"}

var needsNoAnswer = []string{
	"protocol.stale_ask",
	"protocol.too_fast",
	"protocol.out_of_phase",     // already ready, or in the room: an earlier connection did it
	"protocol.too_many_matches", // the same
}

// Run plays the match of the wish, or all that come.
func (c *Client) Run() error {
	c.matches, c.over = make(map[string]*match), make(map[string]bool)
	for {
		err := c.playUntilTheEnd()
		var lost *lostError
		if !errors.As(err, &lost) {
			return err
		}
		if c.Address == stdio && c.Wish == nil && c.session != nil && len(c.matches) == 0 {
			return nil // the end of input means bye
		}
		if c.attempts++; c.Address == stdio || c.attempts >= mostAttempts {
			return &ClientError{lost.text, exitNoServer}
		}
		c.Log(lost.text + "; trying again")
		pause := min(firstPause<<(c.attempts-1), longestPause)
		if lost.retryMs != nil {
			pause = time.Duration(*lost.retryMs) * time.Millisecond
		}
		time.Sleep(pause)
	}
}

// playUntilTheEnd plays until the end of the match of the wish, or of the connection.
func (c *Client) playUntilTheEnd() error {
	connection, err := connect(c.Address)
	var wrong *AddressError
	switch {
	case errors.As(err, &wrong):
		return &ClientError{err.Error(), exitUsage}
	case err != nil && c.session == nil:
		return &ClientError{"cannot connect: " + err.Error(), exitNoServer}
	case err != nil:
		return &lostError{text: "cannot connect: " + err.Error()}
	}
	defer connection.close()
	c.connection, c.joining = connection, false
	if err := c.logIn(); err != nil {
		return err
	}
	for !c.done {
		message, err := c.receive()
		if err == nil {
			err = c.take(message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) send(message any) error {
	if err := c.connection.send(message); err != nil {
		return &lostError{text: "the connection is lost"}
	}
	return nil
}

func (c *Client) receive() (any, error) {
	message, err := c.connection.receive()
	var wrong *NotStellwerkError
	if errors.As(err, &wrong) {
		return nil, &ClientError{err.Error(), exitRefused}
	}
	if err != nil {
		return nil, &lostError{text: "the connection is lost"}
	}
	if bye, ok := message.(*Bye); ok {
		text := reason("the server sent bye", bye.Code, "", bye.Expected)
		if slices.Contains(comeBack, bye.Code) {
			return nil, &lostError{text, bye.RetryMs}
		}
		if bye.Code != "done" || c.session == nil || len(c.matches) > 0 || c.Wish != nil {
			return nil, &ClientError{text, exitRefused}
		}
		c.done = true
	}
	return message, nil
}

// -- the login

// logIn goes from hello to welcome.
func (c *Client) logIn() error {
	message, err := c.receive()
	if err != nil {
		return err
	}
	hello, ok := message.(*Hello)
	if !ok {
		return &ClientError{"this is not a Stellwerk server: it sent no hello", exitRefused}
	}
	if !slices.Contains(hello.Protocols, protocol) {
		return &ClientError{fmt.Sprintf("the server speaks protocol %v, not %d", hello.Protocols, protocol), exitRefused}
	}
	isFresh := c.session == nil && c.Token == "" // otherwise it may already be in a match
	if err := c.send(c.login()); err != nil {
		return err
	}
	for {
		message, err := c.receive()
		if err != nil {
			return err
		}
		switch message := message.(type) {
		case *Welcome:
			return c.enter(message, isFresh)
		case *Error:
			if message.Code != "auth.bad_resume_key" || c.session == nil {
				return &ClientError{refusal("the login was refused", message), exitRefused}
			}
			c.session = nil // its matches are lost, unless the token brings them back with a new start
			clear(c.matches)
			if err := c.send(c.login()); err != nil {
				return err
			}
		}
	}
}

func (c *Client) login() Login {
	login := Login{Type: "login", Protocol: protocol, Name: c.Name, Language: runtime.Version(), Token: c.Token}
	if c.session != nil {
		login.Resume = &Resume{c.session.Session, c.session.ResumeKey, make(map[string]int)}
		for id, match := range c.matches {
			login.Resume.LastEvents[id] = match.lastEvent
		}
	}
	return login
}

// enter sends a ping. The server sends the matches of a session before it answers. Then the client knows whether to
// join.
func (c *Client) enter(welcome *Welcome, isFresh bool) error {
	c.session, c.Name = welcome, welcome.Name // with a seat token the server uses the seat's name
	for id, match := range c.matches {
		if !match.asked { // a `ready` may have been lost; a second one is harmless
			if err := c.send(Ready{"ready", id}); err != nil {
				return err
			}
		}
	}
	switch {
	case c.Wish == nil:
		return nil
	case isFresh:
		return c.join()
	default:
		return c.send(Ping{"ping"})
	}
}

// -- the matches

func (c *Client) take(message any) error {
	switch message := message.(type) {
	case *Pong:
		if c.Wish != nil && len(c.matches) == 0 {
			return c.join()
		}
	case *Start:
		return c.start(message)
	case *Event:
		if match := c.matches[message.Match]; match != nil {
			match.lastEvent = message.Number
			if reader, ok := match.player.(EventReader); ok {
				reader.ReadEvent(message)
			}
		}
	case *Ask:
		if match := c.matches[message.Match]; match != nil {
			return c.answer(match, message)
		}
	case *Ok:
		c.attempts = 0
		if match := c.matches[message.Match]; match != nil {
			match.ask = nil
		}
	case *Default:
		if match := c.matches[message.Match]; match != nil {
			match.ask = nil
			c.Log("the server moved for this seat: " + message.Reason)
		}
	case *Error:
		return c.mend(message)
	case *End:
		if match := c.matches[message.Match]; match != nil {
			c.finish(match, resultLine(match.start, &message.Result))
		}
	}
	return nil
}

func (c *Client) join() error {
	c.joining = true
	return c.send(c.Wish)
}

// start begins a new match, or continues one of a resumed session.
func (c *Client) start(start *Start) error {
	c.joining = false
	if c.over[start.Match] || c.matches[start.Match] != nil {
		return nil
	}
	c.matches[start.Match] = &match{start: start, player: c.NewPlayer(start, c.Seed)}
	return c.send(Ready{"ready", start.Match})
}

// answer sends the player's answer. If the server refuses it, the first listed move follows, then the fallback.
func (c *Client) answer(match *match, ask *Ask) error {
	match.ask, match.asked = ask, true
	match.answers = []Answer{match.player.Answer(ask), choose(0), {Move: ask.Fallback}}
	return c.act(match)
}

func (c *Client) act(match *match) error {
	if match.ask == nil || len(match.answers) == 0 {
		return nil
	}
	c.acted = match
	return c.send(Act{"act", match.ask.Match, match.ask.Ask, match.answers[0]})
}

func (c *Client) finish(match *match, text string) {
	delete(c.matches, match.start.Match)
	c.over[match.start.Match] = true
	c.done = c.Wish != nil
	c.Print(text)
}

// mend handles an error. Errors come in the order of the lines that they are about, so one without a match is about the
// last act.
func (c *Client) mend(err *Error) error {
	match := c.matches[err.Match]
	if err.Match == "" {
		match = c.acted
	}
	isOpen := match != nil && match.ask != nil && (err.Ask == 0 || err.Ask == match.ask.Ask)
	switch {
	case slices.Contains(needsNoAnswer, err.Code):
	case err.Code == "server.failed" && match != nil:
		c.finish(match, match.start.Game+": no result, server.failed")
	case err.Code == "server.busy" && isOpen:
		time.Sleep(busyPause)
		return c.act(match)
	case c.joining:
		return &ClientError{refusal("the join was refused", err), exitRefused}
	case isOpen:
		c.Log(refusal("the answer was refused", err))
		match.answers = match.answers[min(1, len(match.answers)):]
		return c.act(match)
	default:
		c.Log(refusal("the server refused a message", err))
	}
	return nil
}
