package egress

// Waiting returns how many connections wait for the answer about a host.
func (p *Proxy) Waiting(host string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[host].waiting
}
