package text

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/obeyed"
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// urlForm returns the forms of an address.
func urlForm(address string) class {
	_, rest, _ := strings.Cut(address, "://")
	rest = rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:"))]
	if host, _, err := hostname.Split(rest); err == nil {
		rest = host
	}
	if strings.HasPrefix(rest, "169.254.169.254") || strings.HasPrefix(rest, "metadata.google") { // a cloud's keys
		return formURL | formSecret
	}
	host, err := hostname.Canonical(rest)
	if err == nil && hostname.IsLocal(host) {
		return formPath
	}
	if err == nil && hostname.IsAddress(host) {
		return formURL | formAddress
	}
	return formURL
}

// secretFiles are parts of the names of files that have secrets, beside those that internal/content knows.
var secretFiles = strings.Fields("credentials.json .docker/config /etc/shadow /etc/passwd login.keychain cookies.sqlite wallet.dat _history .config/gcloud token.json secrets.json secrets.yaml auth.json /environ $env printenv")

// doorFiles are parts of the names of files that let people in.
var doorFiles = strings.Fields("authorized_keys /sudoers")

// formOf returns the forms of a word that no list has.
func formOf(lower, core string) class {
	if at := strings.IndexByte(lower, '@'); at > 0 && strings.IndexByte(lower[at:], '.') > 1 {
		return formMail
	}
	if !strings.ContainsAny(lower, "./~$") {
		return 0
	}
	if lower[0] >= '0' && lower[0] <= '9' && strings.Count(lower, ".") == 3 {
		return urlForm("://"+lower) & formAddress
	}
	for _, name := range doorFiles {
		if strings.Contains(lower, name) {
			return formDoor | formPath
		}
	}
	if base := path.Base(lower); content.Secret(lower) || base == "env" && lower != "env" || slices.ContainsFunc(secretFiles, func(name string) bool { return strings.Contains(lower, name) }) {
		return formSecret | formPath
	}
	if obeyed.Named(core) {
		return formAgent | formPath
	}
	if strings.HasPrefix(lower, "~") || strings.HasPrefix(lower, "/") || strings.HasPrefix(lower, "./") || strings.Count(lower, "/") > 1 || path.Ext(lower) != "" {
		return formPath
	}
	return 0
}
