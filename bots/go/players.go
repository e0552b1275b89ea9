package main

// Player plays one match for one seat. All that an answer depends on should stand in the Start and in the Ask: a
// player that remembers more would have lost it after a restart.
type Player interface {
	Answer(ask *Ask) Answer
}

// EventReader is a Player that wants to see the events, too.
type EventReader interface {
	ReadEvent(event *Event)
}

// NewPlayer makes the player of a match. The seed is for its chance.
type NewPlayer func(start *Start, seed string) Player

// players are the bots by name. Yours goes here.
var players = map[string]NewPlayer{
	"greedy": newGreedy,
	"random": newRandom,
}

// choose is the answer that makes a listed move.
func choose(index int) Answer { return Answer{Index: &index} }
