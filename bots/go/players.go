package main

// Player plays one match for one seat. An answer should depend only on the Start and on the Ask: a restart loses
// everything that a player remembers.
type Player interface {
	Answer(ask *Ask) Answer
}

// EventReader is a Player that wants to see the events, too.
type EventReader interface {
	ReadEvent(event *Event)
}

// NewPlayer returns the player of a match. The seed is for its random choices.
type NewPlayer func(start *Start, seed string) Player

// players are the bots by name. Add yours here.
var players = map[string]NewPlayer{
	"greedy": newGreedy,
	"random": newRandom,
}

// choose returns the answer that makes a listed move.
func choose(index int) Answer { return Answer{Index: &index} }
