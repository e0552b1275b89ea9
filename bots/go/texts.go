package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Texts for people.

func refusal(what string, err *Error) string {
	return reason(what, err.Code, err.Pointer, err.Expected)
}

func reason(what, code, pointer, expected string) string {
	if pointer != "" {
		code += " at " + pointer
	}
	return fmt.Sprintf("%s: %s: %s", what, code, expected)
}

// resultLine returns the result of a match, best first: `usa: 1. greedy 97, 2. random -45`. Partners share their
// points.
func resultLine(start *Start, result *Result) string {
	names := make(map[int]string)
	for _, player := range start.Players {
		names[player.Seat] = player.Name
	}
	slices.SortStableFunc(result.Teams, func(one, other TeamResult) int { return one.Rank - other.Rank })
	var places []string
	for _, team := range result.Teams {
		var partners []string
		for _, seat := range team.Seats {
			partners = append(partners, names[seat])
		}
		places = append(places, fmt.Sprintf("%d. %s %d", team.Rank, strings.Join(partners, " and "), team.Points))
	}
	return start.Game + ": " + strings.Join(places, ", ")
}

// printable prepares a text for a terminal: one line, without control characters, because the server's texts are not
// ours.
func printable(text string) string {
	return strings.Map(func(char rune) rune {
		if unicode.IsPrint(char) {
			return char
		}
		return unicode.ReplacementChar
	}, text)
}
