package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

const longestLine = 1 << 20 // a server's lines stay below 60,000 bytes

// NotStellwerkError is the error for bytes that no Stellwerk server sends.
type NotStellwerkError struct{ text string }

func (e *NotStellwerkError) Error() string { return "this is not a Stellwerk server: " + e.text }

// encode returns the message's line, to be written at once.
func encode(message any) ([]byte, error) {
	line, err := json.Marshal(message)
	return append(line, '\n'), err
}

// decode returns a pointer to one of the messages from the server.
func decode(line []byte) (any, error) {
	var kind Unknown
	if err := json.Unmarshal(line, &kind); err != nil || kind.Type == "" {
		return nil, &NotStellwerkError{fmt.Sprintf("no object with a type: %.80q", line)}
	}
	message := messageOf(kind.Type)
	if err := json.Unmarshal(line, message); err != nil {
		return nil, &NotStellwerkError{err.Error()}
	}
	if ask, ok := message.(*Ask); ok && (len(ask.Legal) == 0 || ask.Fallback == nil) {
		return nil, &NotStellwerkError{"an ask without legal moves, or without a fallback"}
	}
	return message, nil
}

func messageOf(kind string) any {
	switch kind {
	case "hello":
		return new(Hello)
	case "welcome":
		return new(Welcome)
	case "start":
		return new(Start)
	case "event":
		return new(Event)
	case "ask":
		return new(Ask)
	case "ok":
		return new(Ok)
	case "default":
		return new(Default)
	case "error":
		return new(Error)
	case "end":
		return new(End)
	case "pong":
		return new(Pong)
	case "bye":
		return new(Bye)
	default:
		return new(Unknown)
	}
}

// linesOf splits a stream at "\n" only. A cut connection leaves half a line at the end, which is dropped.
func linesOf(stream io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestLine)
	lines.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return end + 1, data[:end], nil
		}
		if atEnd {
			return len(data), nil, nil
		}
		return 0, nil, nil
	})
	return lines
}
