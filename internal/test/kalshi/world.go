package kalshi

import (
	"fmt"
	"time"
)

// world is the content of the exchange.
type world struct {
	series  []series
	events  []event
	markets []market
	trades  []trade
}

type series struct {
	ticker, title, category, frequency string
	tags                               []string
	source, url                        string
}

type event struct {
	ticker, series, title, sub, category string
	exclusive, combined                  bool
}

// market has its prices in hundredths of a cent, for both eras.
type market struct {
	ticker, event, title, sub string
	status, result            string
	bid, ask, last            int
	volume, volume24          int
	open, close               time.Time
	yes, no                   []level // bids in ascending order
}

type level struct{ price, contracts int }

type trade struct {
	ticker, side string
	price, count int
	at           time.Time
}

var (
	opened = time.Date(2025, 11, 1, 15, 0, 0, 0, time.UTC)
	closes = time.Date(2025, 12, 31, 23, 59, 0, 0, time.UTC)
	traded = time.Date(2025, 11, 19, 5, 54, 56, 569393000, time.UTC)
)

const rules = "If the highest temperature measured at the station is within the range on the day, " +
	"the market resolves to Yes. Revisions after the report of the next morning do not count. "

func newWorld(extra int) world {
	w := world{series: allSeries(), events: allEvents(), markets: allMarkets(), trades: allTrades()}
	for i := range extra {
		name := fmt.Sprintf("KXEXTRA-%d", i)
		w.events = append(w.events, event{ticker: name, series: "KXEXTRA", title: fmt.Sprintf("Extra question %d", i), category: "Other"})
		w.markets = append(w.markets, market{
			ticker: name + "-T1", event: name, title: fmt.Sprintf("Extra question %d?", i), sub: "Yes",
			status: "active", bid: 1000, ask: 1200, last: 1100, volume: i, open: opened, close: closes,
		})
	}
	return w
}

func allSeries() []series {
	return []series{
		{"KXBTC", "Bitcoin price", "Crypto", "daily", []string{"BTC", "Daily"}, "Price Index", "https://index.example/btc"},
		{"KXHIGHNY", "Highest temperature in NYC", "Climate and Weather", "daily", []string{"Daily temperature"}, "Weather Service", "https://weather.example/ny"},
		{"KXELONMARS", "Mars visit", "World", "one_off", nil, "", ""},
		{"KXEXTRA", "Extra questions", "Other", "custom", []string{"Daily"}, "", ""},
	}
}

func allEvents() []event {
	return []event{
		{ticker: "KXBTC-25DEC31", series: "KXBTC", title: "Bitcoin price on the last day of 2025", sub: "On Dec 31", category: "Crypto", exclusive: true},
		{ticker: "KXHIGHNY-25DEC31", series: "KXHIGHNY", title: "Highest temperature in NYC on Dec 31?", sub: "On Dec 31", category: "Climate and Weather", exclusive: true},
		{ticker: "KXELONMARS-99", series: "KXELONMARS", title: "Will somebody visit Mars before 2099?", sub: "Before 2099", category: "World"},
		{ticker: "KXHIGHNY-25NOV01", series: "KXHIGHNY", title: "Highest temperature in NYC on Nov 1?", sub: "On Nov 1", category: "Climate and Weather", exclusive: true},
		{ticker: "KXCOMBO-1", series: "KXCOMBO", title: "Two things at once", category: "Other", combined: true},
	}
}

func allMarkets() []market {
	list := []market{
		{
			ticker: "KXBTC-25DEC31-T100000", event: "KXBTC-25DEC31", title: "Will Bitcoin be above $100,000 on Dec 31, 2025?",
			sub: "$100,000 or above", status: "active", bid: 4200, ask: 4400, last: 4300, volume: 19920, volume24: 280,
			yes: []level{{100, 200}, {4000, 1300}, {4200, 13}}, no: []level{{500, 10}, {5600, 17}},
		},
		{
			ticker: "KXBTC-25DEC31-T150000", event: "KXBTC-25DEC31", title: "Will Bitcoin be above $150,000 on Dec 31, 2025? (C++)",
			sub: "$150,000 or above", status: "active", bid: 250, ask: 375, last: 300, volume: 9500, volume24: 9100,
			yes: []level{{250, 4000}},
		},
		{ // a settled market of an open event
			ticker: "KXBTC-25DEC31-T50000", event: "KXBTC-25DEC31", title: "Will Bitcoin be above $50,000 on Dec 31, 2025?",
			sub: "$50,000 or above", status: "determined", result: "yes", bid: 9900, ask: 10000, last: 9900, volume: 100,
		},
		{
			ticker: "KXHIGHNY-25NOV01-B60", event: "KXHIGHNY-25NOV01", title: "High temp in NYC?", sub: "60° to 61°",
			status: "finalized", result: "yes", bid: 9900, ask: 10000, last: 9900, volume: 4100,
		},
		{ticker: "KXELONMARS-99", event: "KXELONMARS-99", title: "Will somebody visit Mars?", status: "closed", volume: 7},
		{ticker: "KXCOMBO-1-A", event: "KXCOMBO-1", title: "Bitcoin up and warm in NYC", status: "active", bid: 500, ask: 700, last: 600, volume: 3},
	}
	for i := range 12 { // enough markets of one event to make a short view cut them
		low := 30 + 2*i
		list = append(list, market{
			ticker: fmt.Sprintf("KXHIGHNY-25DEC31-B%d", low), event: "KXHIGHNY-25DEC31", title: "High temp in NYC?",
			sub: fmt.Sprintf("%d° to %d°", low, low+1), status: "active", bid: 800, ask: 1000, last: 800, volume: 500 + i, volume24: i,
		})
	}
	for i := range list {
		list[i].open, list[i].close = opened, closes
	}
	return list
}

func allTrades() []trade {
	var list []trade
	for i := range 6 { // newest first, a minute apart
		t := trade{"KXBTC-25DEC31-T100000", "yes", 5300 - 100*i, 2500 + i, traded.Add(-time.Duration(i) * time.Minute)}
		if i%2 == 1 {
			t.ticker, t.side = "KXHIGHNY-25DEC31-B40", "no"
		}
		list = append(list, t)
	}
	return list
}
