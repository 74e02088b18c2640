package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// table reads a map of a text to the name of a tenant, as a sorted list of TEXT=TENANT. In the environment it is such a list. An item that
// cannot be read is lost.
func (r *reader) table(k *key, n *yamlnode.Node) (any, error) {
	out := map[string]string{}
	add := func(n *yamlnode.Node, who, tenant string) {
		who, tenant = strings.TrimSpace(who), strings.TrimSpace(tenant)
		if was, twice := out[who]; who == "" || !tenantName(tenant) || twice && was != tenant {
			r.wrong(n, fmt.Sprintf("%q of %s is not for one tenant", who, k.name), "write NAME: TENANT once; a tenant has lower-case letters, digits, -, _ and .")
			r.lost = true
			return
		}
		out[who] = tenant
	}
	switch n.Kind {
	case yamlnode.Null:
	case yamlnode.Mapping:
		for _, p := range n.Pairs {
			if p.Value.Kind != yamlnode.Scalar {
				add(p.Key, p.Key.Value, "")
				continue
			}
			add(p.Key, p.Key.Value, p.Value.Value)
		}
	default:
		items, err := r.scalars(k, n)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			at := strings.LastIndexByte(item.Value, '=')
			add(item, item.Value[:max(at, 0)], item.Value[at+1:])
		}
	}
	list := []string{}
	for _, who := range slices.Sorted(maps.Keys(out)) {
		list = append(list, who+"="+out[who])
	}
	return list, nil
}

// tenantsOf returns the table of a list that table returned; nil for nil.
func tenantsOf(list []string) map[string]string {
	if list == nil {
		return nil
	}
	out := map[string]string{}
	for _, item := range list {
		at := strings.LastIndexByte(item, '=') // no tenant's name has one
		out[item[:at]] = item[at+1:]
	}
	return out
}
