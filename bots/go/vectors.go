package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// answerVectors lets greedy answer all recorded asks of a file of JSON Lines: a start, and its asks with their answers.
// The error describes the first difference.
func answerVectors(file string) (asks int, err error) {
	stream, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	var player Player
	lines := linesOf(stream)
	for number := 1; lines.Scan(); number++ {
		var row struct {
			Start  *Start `json:"start"`
			Ask    *Ask   `json:"ask"`
			Answer struct {
				Index int `json:"index"`
			} `json:"answer"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return asks, fmt.Errorf("%s: line %d: %w", file, number, err)
		}
		if row.Start != nil {
			player = newGreedy(row.Start, "")
		}
		if row.Ask == nil {
			continue
		}
		asks++
		if came := *player.Answer(row.Ask).Index; came != row.Answer.Index {
			return asks, fmt.Errorf("%s: line %d: expected index %d; came %d", file, number, row.Answer.Index, came)
		}
	}
	if asks == 0 {
		return 0, fmt.Errorf("%s: no asks", file)
	}
	return asks, lines.Err()
}
