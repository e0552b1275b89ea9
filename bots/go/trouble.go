package main

// The errors between a client and a server.

const (
	exitRefused  = 1
	exitUsage    = 2
	exitNoServer = 4
)

// ClientError is the reason why the client cannot continue, in one line.
type ClientError struct {
	Text     string
	ExitCode int
}

func (e *ClientError) Error() string { return e.Text }

// lostError is a lost connection. Another one may help, after this number of milliseconds if the server named a time.
type lostError struct {
	text    string
	retryMs *int
}

func (e *lostError) Error() string { return e.text }
