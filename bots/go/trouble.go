package main

// What goes wrong between a client and a server.

const (
	exitRefused  = 1
	exitUsage    = 2
	exitNoServer = 4
)

// ClientError: it cannot go on; one line says why.
type ClientError struct {
	Text     string
	ExitCode int
}

func (e *ClientError) Error() string { return e.Text }

// lostError: the connection is gone, and another may help, after so many milliseconds if the server named a time.
type lostError struct {
	text    string
	retryMs *int
}

func (e *lostError) Error() string { return e.text }
