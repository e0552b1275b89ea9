package main

import "encoding/json"

// The messages of protocol 1 that this client reads and writes. If a field is absent, its pointer is nil, and so is a
// slice or map that is not required.

// Cards are the numbers of cards of each color: "purple", "blue", "orange", "white", "green", "yellow", "black",
// "red", "locomotive".
type Cards map[string]int

// -- from the server

type Hello struct {
	Protocols []int  `json:"protocols"`
	Server    string `json:"server"`
}

type Welcome struct {
	Session   string `json:"session"`
	ResumeKey string `json:"resume_key"`
	Name      string `json:"name"`
}

type Start struct {
	Match   string         `json:"match"`
	Players []SeatedPlayer `json:"players"`
	Game    string         `json:"game"`
	Options []string       `json:"options"`
	Board   Board          `json:"board"`
	Seat    int            `json:"seat"`
}

type SeatedPlayer struct {
	Seat int    `json:"seat"`
	Team int    `json:"team"`
	Name string `json:"name"`
}

// Event is one fact of a match. A bot decodes the fields that it needs.
type Event struct {
	Match  string          `json:"match"`
	Number int             `json:"number"`
	Event  json.RawMessage `json:"event"`
}

type Ask struct {
	Match         string          `json:"match"`
	Ask           int             `json:"ask"`
	Decision      Decision        `json:"decision"`
	MoveMs        int             `json:"move_ms"`
	BankMs        int             `json:"bank_ms"`
	Tries         int             `json:"tries"`
	Fallback      json.RawMessage `json:"fallback"`
	View          View            `json:"view"`
	Legal         []Move          `json:"legal"`
	LegalComplete bool            `json:"legal_complete"`
}

type Ok struct {
	Match string `json:"match"`
	Ask   int    `json:"ask"`
}

type Default struct {
	Match  string `json:"match"`
	Ask    int    `json:"ask"`
	Reason string `json:"reason"`
}

type Error struct {
	Code     string `json:"code"`
	Expected string `json:"expected"`
	Pointer  string `json:"pointer"`
	Match    string `json:"match"`
	Ask      int    `json:"ask"` // 0 means absent: asks count from 1
}

type End struct {
	Match  string `json:"match"`
	Result Result `json:"result"`
}

type Result struct {
	Reason string       `json:"reason"`
	Ranks  []int        `json:"ranks"`
	Teams  []TeamResult `json:"teams"`
}

type TeamResult struct {
	Seats  []int `json:"seats"`
	Rank   int   `json:"rank"`
	Points int   `json:"points"`
}

type Pong struct{}

type Bye struct {
	Code     string `json:"code"`
	Expected string `json:"expected"`
	RetryMs  *int   `json:"retry_ms"`
}

// Unknown is a message of a type that this client does not know.
type Unknown struct {
	Type string `json:"type"`
}

// -- from the client

type Login struct {
	Type     string  `json:"type"`
	Protocol int     `json:"protocol"`
	Name     string  `json:"name"`
	Language string  `json:"language"`
	Token    string  `json:"token,omitzero"`
	Resume   *Resume `json:"resume,omitzero"`
}

type Resume struct {
	Session    string         `json:"session"`
	Key        string         `json:"key"`
	LastEvents map[string]int `json:"last_events"`
}

type Join struct {
	Type    string   `json:"type"`
	Game    string   `json:"game"`
	Players int      `json:"players"`
	Options []string `json:"options,omitempty"`
	Room    string   `json:"room,omitzero"`
	Against []string `json:"against,omitempty"`
	Seat    *int     `json:"seat,omitzero"`
	Seed    string   `json:"seed,omitzero"`
}

type Ready struct {
	Type  string `json:"type"`
	Match string `json:"match"`
}

type Act struct {
	Type  string `json:"type"`
	Match string `json:"match"`
	Ask   int    `json:"ask"`
	Answer
}

// Answer has exactly one of Index, which counts from 0 in the ask's Legal, and Move: a Move, or JSON.
type Answer struct {
	Index *int   `json:"index,omitzero"`
	Move  any    `json:"move,omitzero"`
	Note  string `json:"note,omitzero"` // for the replay of the match
}

type Ping struct {
	Type string `json:"type"`
}

// -- parts of messages

// Board has Routes and RoutePoints if it is a map. The keys of RoutePoints are lengths, as text.
type Board struct {
	Id          string         `json:"id"`
	Trains      int            `json:"trains"`
	RoutePoints map[string]int `json:"route_points"`
	Cities      []City         `json:"cities"`
	Routes      []Route        `json:"routes"`
	Tickets     []Ticket       `json:"tickets"`
}

type City struct {
	Id   string `json:"id"`
	Name string `json:"name"`
}

type Route struct {
	Id     string `json:"id"`
	A      string `json:"a"`
	B      string `json:"b"`
	Length int    `json:"length"`
	Color  string `json:"color"`
}

// Ticket has the cities to connect, A and B, or in the card game the Cards to collect.
type Ticket struct {
	Id     string `json:"id"`
	Points int    `json:"points"`
	A      string `json:"a"`
	B      string `json:"b"`
	Cards  Cards  `json:"cards"`
}

type Decision struct {
	Type  string `json:"type"`
	Seats []int  `json:"seats"`
}

type Move struct {
	Type        string   `json:"type"`
	Card        string   `json:"card,omitzero"`
	Place       string   `json:"place,omitzero"`
	Route       string   `json:"route,omitzero"`
	Cards       Cards    `json:"cards,omitzero"`
	HolderCards Cards    `json:"holder_cards,omitzero"`
	Tickets     []string `json:"tickets,omitzero"`
	Technology  string   `json:"technology,omitzero"`
}

type View struct {
	Turn       int            `json:"turn"`
	Market     Cards          `json:"market"`
	Pile       int            `json:"pile"`
	Discards   Cards          `json:"discards"`
	TicketPile int            `json:"ticket_pile"`
	Players    []PlayerView   `json:"players"`
	Seat       int            `json:"seat"`
	Teams      []TeamView     `json:"teams"`
	Supply     map[string]int `json:"supply"`
	Half       int            `json:"half"`
	TurnsLeft  *int           `json:"turns_left"` // present in the last round
}

// PlayerView has Hand, Tickets, Offered and Returned for your own seat only, and Yard in the card game.
type PlayerView struct {
	Seat         int         `json:"seat"`
	Team         int         `json:"team"`
	Points       int         `json:"points"`
	HandCount    int         `json:"hand_count"`
	KnownCards   Cards       `json:"known_cards"`
	TicketCount  int         `json:"ticket_count"`
	Trains       int         `json:"trains"`
	Routes       []string    `json:"routes"`
	Technologies []string    `json:"technologies"`
	Yard         []YardStack `json:"yard"`
	StackCount   int         `json:"stack_count"`
	Completed    []string    `json:"completed"`
	Hand         Cards       `json:"hand"`
	Tickets      []string    `json:"tickets"`
	Offered      []string    `json:"offered"`
	Returned     []string    `json:"returned"`
}

// own is the viewer's own part of the view.
func (v *View) own() *PlayerView {
	for i := range v.Players {
		if v.Players[i].Seat == v.Seat {
			return &v.Players[i]
		}
	}
	return &PlayerView{}
}

type YardStack struct {
	Color       string `json:"color"`
	Cards       int    `json:"cards"`
	Locomotives int    `json:"locomotives"`
}

// TeamView is the view of a holder. Holder and SharedTickets are present for your own team only.
type TeamView struct {
	Team          int      `json:"team"`
	HolderCount   int      `json:"holder_count"`
	KnownHolder   Cards    `json:"known_holder"`
	SharedCount   int      `json:"shared_count"`
	Holder        Cards    `json:"holder"`
	SharedTickets []string `json:"shared_tickets"`
}
