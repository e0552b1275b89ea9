package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

const askLine = `{"type":"ask","match":"m1","ask":5,"decision":{"type":"complete_tickets","seats":[0]},` +
	`"fallback":{"type":"complete_tickets","tickets":[]},"weather":{"sky":["gray"]},` +
	`"view":{"seat":0,"players":[{"seat":0,"hand":{"red":2},"yard":[]},{"seat":1,"hand_count":3}],"turns_left":0},` +
	`"legal":[{"type":"draw_card"},{"type":"dance","steps":3},{"type":"lay_cards","cards":{"red":2}}]}`

func decoded[M any](t *testing.T, line string) *M {
	t.Helper()
	message, err := decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	expected, ok := message.(*M)
	if !ok {
		t.Fatalf("%T instead of %T", message, expected)
	}
	return expected
}

func encoded(t *testing.T, message any) string {
	t.Helper()
	line, err := encode(message)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func TestAnAskIsReadAndWhatIsUnknownInItIsIgnored(t *testing.T) {
	ask := decoded[Ask](t, askLine)
	if ask.Match != "m1" || ask.Ask != 5 || ask.View.Players[0].Hand["red"] != 2 {
		t.Errorf("%+v", ask)
	}
	if len(ask.Legal) != 3 || ask.Legal[1].Type != "dance" || ask.Legal[2].Cards["red"] != 2 {
		t.Errorf("%+v", ask.Legal)
	}
}

func TestWhatIsAbsentIsToldFromWhatIsEmpty(t *testing.T) {
	view := decoded[Ask](t, askLine).View
	if view.TurnsLeft == nil || *view.TurnsLeft != 0 {
		t.Error("no turns left is not an absent field")
	}
	if view.Players[0].Yard == nil || view.Players[1].Yard != nil {
		t.Error("an empty yard is not an absent one")
	}
}

func TestAMessageOfAnUnknownTypeIsNoError(t *testing.T) {
	if kind := decoded[Unknown](t, `{"type":"weather","match":7,"code":null}`).Type; kind != "weather" {
		t.Error(kind)
	}
}

func TestWhatIsNoMessageIsToldAsSuch(t *testing.T) {
	lines := []string{
		"", "hello", "null", "[]", `"ask"`, "{}", `{"type":3}`, `{"type":"ok"`, `{"type":"ok","match":3}`,
		`{"type":"ask","match":"m1","ask":1,"legal":[],"fallback":{"type":"pass"}}`,
		`{"type":"ask","match":"m1","ask":1,"legal":[{"type":"pass"}]}`,
	}
	for _, line := range lines {
		message, err := decode([]byte(line))
		var wrong *NotStellwerkError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %+v", line, message)
		}
	}
}

func TestAnActHasAnIndexOrAMoveAndNothingThatIsAbsent(t *testing.T) {
	expected := `{"type":"act","match":"m1","ask":5,"index":0}` + "\n"
	if line := encoded(t, Act{"act", "m1", 5, choose(0)}); line != expected {
		t.Error(line)
	}
	fallback := decoded[Ask](t, askLine).Fallback
	expected = `{"type":"act","match":"m1","ask":5,"move":{"type":"complete_tickets","tickets":[]}}` + "\n"
	if line := encoded(t, Act{"act", "m1", 5, Answer{Move: fallback}}); line != expected {
		t.Error(line)
	}
}

func TestAMoveKeepsEmptySetsAndHasNoAbsentFields(t *testing.T) {
	expected := `{"type":"keep_tickets","tickets":[]}` + "\n"
	if line := encoded(t, Move{Type: "keep_tickets", Tickets: []string{}}); line != expected {
		t.Error(line)
	}
}

func TestALoginResumesOnlyASession(t *testing.T) {
	client := Client{Name: "bot", matches: map[string]*match{"m1": {lastEvent: 25}}}
	if line := encoded(t, client.login()); strings.Contains(line, "resume") || strings.Contains(line, "token") {
		t.Error(line)
	}
	client.session = &Welcome{Session: "s1", ResumeKey: "k1"}
	expected := `"resume":{"session":"s1","key":"k1","last_events":{"m1":25}}}` + "\n"
	if line := encoded(t, client.login()); !strings.HasSuffix(line, expected) {
		t.Error(line)
	}
}

func TestWhatIsWrittenIsOneLineWithEveryCharacterOfTheText(t *testing.T) {
	note := "a\nb\u2028c\"ü🚂"
	line := encoded(t, Act{"act", "m1", 5, Answer{Note: note}})
	if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("%q", line)
	}
	var act Act
	if err := json.Unmarshal([]byte(line), &act); err != nil || act.Note != note {
		t.Errorf("%q %v", act.Note, err)
	}
}

func TestLinesAreTheSameHoweverTheyArrive(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	text := "first\nü\u2028second\r\n\n" + long + "\nhalf a line"
	expected := []string{"first", "ü\u2028second\r", "", long}
	for _, stream := range []io.Reader{
		strings.NewReader(text),
		iotest.OneByteReader(strings.NewReader(text)),
		iotest.DataErrReader(strings.NewReader(text)),
	} {
		var came []string
		for lines := linesOf(stream); lines.Scan(); {
			came = append(came, lines.Text())
		}
		if !reflect.DeepEqual(came, expected) {
			t.Errorf("%.100q", came)
		}
	}
}

func TestALineWithoutAnEndIsNoServer(t *testing.T) {
	connection := Connection{lines: linesOf(bytes.NewReader(make([]byte, 2*longestLine)))}
	_, err := connection.receive()
	var wrong *NotStellwerkError
	if !errors.As(err, &wrong) {
		t.Error(err)
	}
}

func TestTheEndOfAStreamIsTold(t *testing.T) {
	connection := Connection{lines: linesOf(strings.NewReader(`{"type":"ok"}` + "\n" + `{"type":"b`))}
	if _, err := connection.receive(); err != nil {
		t.Error(err)
	}
	if message, err := connection.receive(); err != io.EOF {
		t.Error(message, err)
	}
}
