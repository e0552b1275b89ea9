// Read values with the generated types, and print what these write. Each line of standard input is the name of a
// type, a tab and a value in JSON. The test writes `records` and `patterns`, in a file beside this one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	for _, pattern := range patterns {
		regexp.MustCompile(pattern)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), "\t")
		value := records[name]()
		if err := json.Unmarshal([]byte(text), value); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", name, err, text)
			os.Exit(1)
		}
		if err := out.Encode(value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
