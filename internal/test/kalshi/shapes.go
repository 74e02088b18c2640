package kalshi

import (
	"fmt"
	"time"
)

// object is a JSON object.
type object = map[string]any

// dollars writes hundredths of a cent as the service does: "0.4200".
func dollars(price int) string { return fmt.Sprintf("%d.%04d", price/10000, price%10000) }

// contracts writes a number of contracts as the service does: "13.00".
func contracts(n int) string { return fmt.Sprintf("%d.00", n) }

func clock(t time.Time) string { return t.Format(time.RFC3339Nano) }

// market returns a market in the format of the era.
func (e Era) market(m *market) object {
	o := object{
		"ticker": m.ticker, "event_ticker": m.event, "market_type": "binary",
		"title": m.title, "subtitle": m.sub, "yes_sub_title": m.sub, "no_sub_title": m.sub,
		"created_time": clock(m.open), "updated_time": clock(m.open), "open_time": clock(m.open), "close_time": clock(m.close),
		"expiration_time": clock(m.close.AddDate(0, 0, 7)), "latest_expiration_time": clock(m.close.AddDate(0, 0, 7)),
		"settlement_timer_seconds": 3600, "status": m.status, "result": m.result,
		"can_close_early": true, "expiration_value": "", "rules_primary": rules + rules + rules + rules, "rules_secondary": "",
		"yes_bid_dollars": dollars(m.bid), "yes_ask_dollars": dollars(m.ask),
		"no_bid_dollars": dollars(10000 - m.ask), "no_ask_dollars": dollars(10000 - m.bid),
		"last_price_dollars": dollars(m.last), "previous_price_dollars": dollars(m.last),
		"previous_yes_bid_dollars": dollars(m.bid), "previous_yes_ask_dollars": dollars(m.ask),
		"notional_value_dollars": "1.0000", "liquidity_dollars": "0.0000",
	}
	if e == Legacy {
		for key, price := range map[string]int{
			"yes_bid": m.bid, "yes_ask": m.ask, "no_bid": 10000 - m.ask, "no_ask": 10000 - m.bid, "last_price": m.last,
		} {
			o[key] = price / 100
			delete(o, key+"_dollars") // older answers had both; removing them forces a client to read the integers
		}
		o["volume"], o["volume_24h"], o["open_interest"], o["liquidity"] = m.volume, m.volume24, 1234, 98765
		delete(o, "liquidity_dollars")
		return o
	}
	o["volume_fp"], o["volume_24h_fp"], o["open_interest_fp"] = contracts(m.volume), contracts(m.volume24), "1234.00"
	o["yes_bid_size_fp"], o["yes_ask_size_fp"] = "13.00", "17.00"
	o["fractional_trading_enabled"], o["price_level_structure"] = false, "linear_cent"
	o["price_ranges"] = []object{{"start": "0.0000", "end": "1.0000", "step": "0.0100"}}
	return o
}

// book returns the order book of a market. depth limits each side to its best levels; 0 means no limit.
func (e Era) book(m *market, depth int) object {
	best := func(side []level) []level {
		if depth > 0 && len(side) > depth {
			return side[len(side)-depth:]
		}
		return side
	}
	if e == Today {
		return object{"orderbook_fp": object{
			"yes_dollars": pairs(best(m.yes), func(l level) any { return []string{dollars(l.price), contracts(l.contracts)} }),
			"no_dollars":  pairs(best(m.no), func(l level) any { return []string{dollars(l.price), contracts(l.contracts)} }),
		}}
	}
	book := object{"yes": nil, "no": nil} // in legacy answers an empty side was null
	for name, side := range map[string][]level{"yes": best(m.yes), "no": best(m.no)} {
		if len(side) == 0 {
			continue
		}
		book[name] = pairs(side, func(l level) any { return []int{l.price / 100, l.contracts} })
		book[name+"_dollars"] = pairs(side, func(l level) any { return []any{dollars(l.price), l.contracts} })
	}
	return object{"orderbook": book}
}

func pairs(side []level, one func(level) any) []any {
	list := []any{}
	for _, l := range side {
		list = append(list, one(l))
	}
	return list
}

func (e Era) trade(t *trade, id int) object {
	o := object{
		"trade_id": fmt.Sprintf("00000000-0000-4000-8000-%012d", id), "ticker": t.ticker,
		"taker_side": t.side, "created_time": clock(t.at),
	}
	if e == Legacy {
		o["count"], o["yes_price"], o["no_price"] = t.count, t.price/100, 100-t.price/100
		return o
	}
	o["count_fp"], o["yes_price_dollars"], o["no_price_dollars"] = contracts(t.count), dollars(t.price), dollars(10000-t.price)
	return o
}

func (e *event) shape() object {
	return object{
		"event_ticker": e.ticker, "series_ticker": e.series, "title": e.title, "sub_title": e.sub, "category": e.category,
		"collateral_return_type": "binary", "mutually_exclusive": e.exclusive, "available_on_brokers": true,
		"product_metadata": object{}, "last_updated_ts": clock(opened),
	}
}

func (s *series) shape(withVolume bool) object {
	sources := []object{}
	if s.source != "" {
		sources = append(sources, object{"name": s.source, "url": s.url})
	}
	o := object{
		"ticker": s.ticker, "title": s.title, "category": s.category, "frequency": s.frequency, "tags": s.tags,
		"settlement_sources": sources, "contract_url": "https://contracts.example/" + s.ticker + ".pdf", "contract_terms_url": "",
		"fee_type": "quadratic", "fee_multiplier": 1, "additional_prohibitions": []string{"Staff of the source"},
		"last_updated_ts": clock(opened),
	}
	if withVolume {
		o["volume_fp"] = "123456.00"
	}
	return o
}
