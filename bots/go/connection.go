package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"
)

const (
	defaultAddress = "tcp://127.0.0.1:7878"
	stdio          = "stdio:"
	connectTime    = 10 * time.Second
)

// AddressError is the error for a text that is not an address.
type AddressError struct{ address string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("not an address:  %q; it is tcp://HOST:PORT, tls://HOST:PORT or %s", e.address, stdio)
}

// Connection sends and receives messages, over TCP, over TLS, or over this process's own standard streams.
type Connection struct {
	lines  *bufio.Scanner
	writer io.Writer
	close  func() error
}

func connect(address string) (*Connection, error) {
	if address == stdio {
		return overStdio(), nil
	}
	parts, err := url.Parse(address)
	if err != nil || parts.Hostname() == "" || parts.Port() == "" {
		return nil, &AddressError{address}
	}
	dialer := &net.Dialer{Timeout: connectTime} // Go sets TCP_NODELAY and keepalive by itself
	var socket net.Conn
	switch parts.Scheme {
	case "tcp":
		socket, err = dialer.Dial("tcp", parts.Host)
	case "tls":
		socket, err = tls.DialWithDialer(dialer, "tcp", parts.Host, nil)
	default:
		return nil, &AddressError{address}
	}
	if err != nil {
		return nil, err
	}
	return &Connection{linesOf(socket), socket, socket.Close}, nil
}

// overStdio reserves standard output for the messages. Output of a player goes to standard error.
func overStdio() *Connection {
	output := os.Stdout
	os.Stdout = os.Stderr
	return &Connection{linesOf(os.Stdin), output, func() error { return nil }}
}

// send writes the line at once: two writes for one line would wait for each other on the network.
func (c *Connection) send(message any) error {
	line, err := encode(message)
	if err != nil {
		return err
	}
	_, err = c.writer.Write(line)
	return err
}

// receive returns the next message, or io.EOF if the connection has ended for any reason.
func (c *Connection) receive() (any, error) {
	if c.lines.Scan() {
		return decode(c.lines.Bytes())
	}
	if errors.Is(c.lines.Err(), bufio.ErrTooLong) {
		return nil, &NotStellwerkError{"a line that does not end"}
	}
	return nil, io.EOF
}
