package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/agent-base/agent-base/skill/manifest"
)

// resolve combines the sources. The value of a higher source wins, except that some lists are joined.
func (l *loader) resolve(user, project, env, flags given) given {
	out := l.table(Origin{Rank: Default}, defaults())
	for _, source := range []given{user, project, env, flags} {
		if e, ok := source["profile"]; ok {
			out["profile"] = e
		}
	}
	name := out["profile"].value.(string)
	fromProfile := l.table(Origin{Rank: FromProfile, Name: name}, profileOptions(name))
	if l.broken.Name != "" {
		l.floor(fromProfile, out)
	}
	for _, source := range []given{fromProfile, user, project, env, flags} {
		for _, k := range keys {
			if e, ok := source[k.name]; ok {
				out[k.name] = join(k, out[k.name], e)
			}
		}
	}
	return out
}

// table reads the values of a table of this package.
func (l *loader) table(at Origin, texts map[string]string) given {
	out := given{}
	for name, text := range texts {
		l.take(out, lookupKey(name), plain(text, at))
	}
	return out
}

func defaults() map[string]string {
	out := map[string]string{}
	for _, k := range keys {
		if k.initial != "" {
			out[k.name] = k.initial
		}
	}
	return out
}

// join returns the value of a key that two sources set.
func join(k *key, low, high entry) entry {
	if k.project != add && k.project != propose && k.kind != rules || len(low.origins) == 0 {
		return high
	}
	origins := append(slices.Clone(high.origins), low.origins...)
	switch h := high.value.(type) {
	case []string:
		for _, s := range low.value.([]string) {
			if !slices.Contains(h, s) {
				h = append(slices.Clone(h), s)
			}
		}
		return entry{h, origins}
	case []Rule:
		return entry{append(slices.Clone(h), low.value.([]Rule)...), origins}
	case []Server:
		return entry{append(slices.Clone(h), low.value.([]Server)...), origins}
	case []Root:
		return entry{append(slices.Clone(h), low.value.([]Root)...), origins}
	}
	return high
}

// strictness returns how strict a value of a key is. For a choice it is the index of the value; a lower limit is stricter.
func (k *key) strictness(e entry) int64 {
	switch v := e.value.(type) {
	case time.Duration:
		return -int64(v)
	case int64:
		if k.zero && v == 0 {
			return math.MinInt64
		}
		return -v
	case string:
		if slices.Contains(k.alike, v) {
			return int64(len(k.values))
		}
		return int64(slices.Index(k.values, v))
	}
	return 0
}

// floor removes what a profile loosens. It is used when the user's file, which may have prevented that, cannot be read.
func (l *loader) floor(profile, initial given) {
	for _, k := range keys {
		e, ok := profile[k.name]
		if ok && k.project == tighten && k.strictness(e) < k.strictness(initial[k.name]) {
			delete(profile, k.name)
		}
	}
}

// protect restores what the project's file, or a profile that it chose, may not change. full and base differ by that file alone.
func (l *loader) protect(full, base given) {
	for _, k := range keys {
		now, before := full[k.name], base[k.name]
		if !k.withheld(now, before) {
			continue
		}
		full[k.name] = before
		at := full["profile"].origins[0]
		if len(now.origins) > 0 && now.origins[0].Rank == Project {
			at = now.origins[0]
		}
		l.report(at, manifest.SeverityWarning, "config-project", fmt.Sprintf("a project cannot change %s from %q to %q: ignored",
			k.name, fmt.Sprint(before.value), fmt.Sprint(now.value)), "set it in your own config.yaml, in the environment or with a flag")
	}
}

// withheld reports whether a project may not change the value of a key in this way.
func (k *key) withheld(now, before entry) bool {
	switch k.project {
	case never:
		return !reflect.DeepEqual(now.value, before.value)
	case ifUnset:
		return len(before.origins) > 0 && !reflect.DeepEqual(now.value, before.value)
	case tighten:
		return k.strictness(now) < k.strictness(before)
	}
	return false
}
