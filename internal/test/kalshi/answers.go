package kalshi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// errNotFound becomes a 404; every other error of an answer is a 400.
var errNotFound = errors.New("not found")

// answer returns the status and the body for a request.
func (s *Server) answer(r Request) (int, any) {
	if r.Path == "/exchange/status" {
		return s.status()
	}
	answer, err := s.endpoint(r)
	switch {
	case errors.Is(err, errNotFound):
		return http.StatusNotFound, s.problem("not_found", err.Error())
	case err != nil:
		return http.StatusBadRequest, s.problem("bad_request", err.Error())
	}
	return http.StatusOK, answer
}

func (s *Server) endpoint(r Request) (object, error) {
	parts := strings.Split(strings.TrimPrefix(r.Path, "/"), "/")
	switch {
	case r.Path == "/markets":
		return s.markets(r.Query)
	case r.Path == "/markets/trades":
		return s.trades(r.Query)
	case r.Path == "/events":
		return s.events(r.Query)
	case r.Path == "/series":
		return s.seriesList(r.Query)
	case len(parts) == 2 && parts[0] == "markets":
		return s.market(parts[1])
	case len(parts) == 3 && parts[0] == "markets" && parts[2] == "orderbook":
		return s.orderbook(parts[1], r.Query)
	case len(parts) == 2 && parts[0] == "events":
		return s.event(parts[1], r.Query)
	case len(parts) == 2 && parts[0] == "series":
		return s.series(parts[1], r.Query)
	}
	return nil, errNotFound
}

// status returns the same body with either code.
func (s *Server) status() (int, any) {
	body := object{"exchange_active": true, "trading_active": !s.o.Halted, "exchange_estimated_resume_time": nil}
	if !s.o.Halted {
		return http.StatusOK, body
	}
	body["exchange_estimated_resume_time"] = "2025-11-20T12:00:00Z"
	return http.StatusServiceUnavailable, body
}

func (s *Server) findMarket(ticker string) (*market, error) {
	i := slices.IndexFunc(s.world.markets, func(m market) bool { return m.ticker == ticker })
	if i < 0 {
		return nil, errNotFound
	}
	return &s.world.markets[i], nil
}

func (s *Server) market(ticker string) (object, error) {
	m, err := s.findMarket(ticker)
	if err != nil {
		return nil, err
	}
	return object{"market": s.o.Era.market(m)}, nil
}

func (s *Server) orderbook(ticker string, q url.Values) (object, error) {
	depth, err := integer(q, "depth", bounds{0, 100, 0})
	if err != nil {
		return nil, err
	}
	m, err := s.findMarket(ticker)
	if err != nil {
		return nil, err
	}
	return s.o.Era.book(m, depth), nil
}

// states returns the object's words for a word of the query, or none if the word is unknown.
func states(query string) []string {
	switch query {
	case "unopened":
		return []string{"initialized"}
	case "open":
		return []string{"active"}
	case "paused":
		return []string{"inactive"}
	case "closed":
		return []string{"closed"}
	case "settled":
		return []string{"determined", "disputed", "amended", "finalized"}
	}
	return nil
}

func (s *Server) markets(q url.Values) (object, error) {
	state := q.Get("status")
	if state != "" && states(state) == nil {
		return nil, fmt.Errorf("unknown status %q", state)
	}
	keep, err := s.marketFilter(q)
	if err != nil {
		return nil, err
	}
	list := []object{}
	for i := range s.world.markets {
		if m := &s.world.markets[i]; keep(m) {
			list = append(list, s.o.Era.market(m))
		}
	}
	return s.page("markets", list, q, bounds{0, 1000, 100})
}

func (s *Server) marketFilter(q url.Values) (func(*market) bool, error) {
	low, high, err := span(q, "min_close_ts", "max_close_ts")
	if err != nil {
		return nil, err
	}
	var tickers []string
	if q.Get("tickers") != "" {
		tickers = strings.Split(q.Get("tickers"), ",")
	}
	state, event, series, combined := q.Get("status"), q.Get("event_ticker"), q.Get("series_ticker"), q.Get("mve_filter")
	return func(m *market) bool {
		e := s.eventOf(m)
		return (state == "" || slices.Contains(states(state), m.status)) &&
			(event == "" || m.event == event) && (series == "" || e.series == series) &&
			(tickers == nil || slices.Contains(tickers, m.ticker)) &&
			(combined != "only" || e.combined) && (combined != "exclude" || !e.combined) &&
			!m.close.Before(low) && !m.close.After(high)
	}, nil
}

func (s *Server) eventOf(m *market) *event {
	i := slices.IndexFunc(s.world.events, func(e event) bool { return e.ticker == m.event })
	if i < 0 {
		return &event{}
	}
	return &s.world.events[i]
}

func (s *Server) trades(q url.Values) (object, error) {
	low, high, err := span(q, "min_ts", "max_ts")
	if err != nil {
		return nil, err
	}
	list := []object{}
	for i := range s.world.trades {
		t := &s.world.trades[i]
		if (q.Get("ticker") == "" || q.Get("ticker") == t.ticker) && !t.at.Before(low) && !t.at.After(high) {
			list = append(list, s.o.Era.trade(t, i))
		}
	}
	return s.page("trades", list, q, bounds{0, 1000, 100})
}

func (s *Server) marketsOf(e *event) []*market {
	var list []*market
	for i := range s.world.markets {
		if m := &s.world.markets[i]; m.event == e.ticker {
			list = append(list, m)
		}
	}
	return list
}

// eventHas reports whether a market of the event is in one of the states. An event has no state of its own.
func (s *Server) eventHas(e *event, words []string) bool {
	return slices.ContainsFunc(s.marketsOf(e), func(m *market) bool { return slices.Contains(words, m.status) })
}

func (s *Server) nested(e *event) []object {
	list := []object{}
	for _, m := range s.marketsOf(e) {
		list = append(list, s.o.Era.market(m))
	}
	return list
}

func (s *Server) events(q url.Values) (object, error) {
	state := q.Get("status")
	if state != "" && state != "open" && state != "closed" && state != "settled" {
		return nil, fmt.Errorf("unknown status %q", state)
	}
	list := []object{}
	for i := range s.world.events {
		e := &s.world.events[i]
		if e.combined || (q.Get("series_ticker") != "" && q.Get("series_ticker") != e.series) ||
			(state != "" && !s.eventHas(e, states(state))) {
			continue
		}
		shape := e.shape()
		if q.Get("with_nested_markets") == "true" {
			shape["markets"] = s.nested(e)
		}
		list = append(list, shape)
	}
	answer, err := s.page("events", list, q, bounds{1, 200, 200})
	if err == nil && q.Get("with_milestones") == "true" {
		answer["milestones"] = []object{}
	}
	return answer, err
}

func (s *Server) event(ticker string, q url.Values) (object, error) {
	i := slices.IndexFunc(s.world.events, func(e event) bool { return e.ticker == ticker })
	if i < 0 {
		return nil, errNotFound
	}
	e := &s.world.events[i]
	shape := e.shape()
	if q.Get("with_nested_markets") == "true" {
		shape["markets"] = s.nested(e)
		return object{"event": shape}, nil
	}
	return object{"event": shape, "markets": s.nested(e)}, nil
}

func (s *Server) seriesList(q url.Values) (object, error) {
	var tags []string
	if q.Get("tags") != "" {
		tags = strings.Split(q.Get("tags"), ",")
	}
	list := []object{}
	for i := range s.world.series {
		one := &s.world.series[i]
		tagged := tags == nil || slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(one.tags, t) })
		if tagged && (q.Get("category") == "" || q.Get("category") == one.category) {
			list = append(list, one.shape(q.Get("include_volume") == "true"))
		}
	}
	return object{"series": list}, nil
}

func (s *Server) series(ticker string, q url.Values) (object, error) {
	i := slices.IndexFunc(s.world.series, func(one series) bool { return one.ticker == ticker })
	if i < 0 {
		return nil, errNotFound
	}
	return object{"series": s.world.series[i].shape(q.Get("include_volume") == "true")}, nil
}
