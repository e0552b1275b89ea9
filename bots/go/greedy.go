package main

import (
	"slices"
	"strconv"
)

// greedy gives each listed move a value, and makes the first move with the highest one. The law is in
// protocol/GREEDY.md: an answer follows from the board and the ask, in whole numbers, without random choices.
type greedy struct {
	tickets     map[string]Ticket
	routePoints map[string]int
}

const (
	goodRoutePoints = 7
	largeHand       = 15 // so large that any claim is good
	cardsToAskFor   = 56 // on the tickets of all players, if tickets require cards
	roomForATicket  = 4
)

var technologies = []string{"mechanical_stoker", "superheated_steam_boiler", "boiler_lagging"}

func newGreedy(start *Start, _ string) Player {
	p := &greedy{make(map[string]Ticket), make(map[string]int)}
	for _, ticket := range start.Board.Tickets {
		p.tickets[ticket.Id] = ticket
	}
	for _, route := range start.Board.Routes {
		p.routePoints[route.Id] = start.Board.RoutePoints[strconv.Itoa(route.Length)]
	}
	return p
}

func (p *greedy) Answer(ask *Ask) Answer {
	best, most := 0, p.worth(&ask.Legal[0], &ask.View)
	for index := range ask.Legal {
		if worth := p.worth(&ask.Legal[index], &ask.View); worth > most {
			best, most = index, worth
		}
	}
	return choose(best)
}

func (p *greedy) worth(move *Move, view *View) int {
	own := view.own()
	switch move.Type {
	case "keep_tickets":
		return p.worthOfTickets(move.Tickets, view)
	case "draw_tickets":
		if own.Yard != nil && p.asked(own.Tickets) < limit(view)-roomForATicket {
			return 2000
		}
		return -1
	case "buy_technology":
		return worthOfTechnology(move)
	case "claim_route":
		points := p.routePoints[move.Route]
		if points >= goodRoutePoints || own.HandCount >= largeHand || view.TurnsLeft != nil {
			return 1000 + 10*points - locomotives(move)
		}
		return 0
	case "lay_cards":
		return 500 + 10*count(move.Cards) - locomotives(move)
	case "take_card":
		if p.wants(move.Card, own) {
			return 30 + own.Hand[move.Card]
		}
		return 10
	case "draw_three":
		return 25
	case "draw_card":
		return 20
	default:
		return 0
	}
}

// worthOfTickets is the value of keeping tickets: on a map few points are best; with yards many, within the limit.
func (p *greedy) worthOfTickets(kept []string, view *View) int {
	own := view.own()
	points := 0
	for _, id := range kept {
		points += p.tickets[id].Points
	}
	switch {
	case own.Yard == nil:
		return -points
	case p.asked(own.Tickets)+p.asked(kept) <= limit(view):
		return points
	default:
		return -1
	}
}

func worthOfTechnology(move *Move) int {
	place := slices.Index(technologies, move.Technology)
	if place < 0 || count(move.Cards) != move.Cards["locomotive"] {
		return -1
	}
	return 3000 - place
}

func (p *greedy) wants(color string, own *PlayerView) bool {
	if color == "locomotive" {
		return false
	}
	if own.Yard == nil {
		return own.Hand[color] >= 2
	}
	asked := 0
	for _, id := range own.Tickets {
		asked += p.tickets[id].Cards[color]
	}
	return own.Hand[color] < asked
}

// asked is the number of cards on these tickets.
func (p *greedy) asked(tickets []string) int {
	total := 0
	for _, id := range tickets {
		total += count(p.tickets[id].Cards)
	}
	return total
}

func limit(view *View) int { return cardsToAskFor / len(view.Players) }

func locomotives(move *Move) int { return move.Cards["locomotive"] + move.HolderCards["locomotive"] }

func count(cards Cards) int {
	total := 0
	for _, number := range cards {
		total += number
	}
	return total
}
