package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
)

// randomPlayer makes every listed move with the same probability. Its choices depend on the seed, the match and the
// ask, so a bot that resumes chooses the same.
type randomPlayer struct{ seed string }

func newRandom(start *Start, seed string) Player {
	return &randomPlayer{seed + "/" + start.Match}
}

func (p *randomPlayer) Answer(ask *Ask) Answer {
	chance := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%s/%d", p.seed, ask.Ask))))
	return choose(chance.IntN(len(ask.Legal)))
}
