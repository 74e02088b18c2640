package oci

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxCredentials bounds the file of credentials, in bytes.
const maxCredentials = 1 << 20

// helperError says that the credential of a registry is kept by another program, which this package does not run.
type helperError struct {
	Registry string
	Helper   string // name, such as "desktop" for docker-credential-desktop
}

// Error names the registry and the program.
func (e *helperError) Error() string {
	return fmt.Sprintf("the password for %s is kept by docker-credential-%s, which is not run", e.Registry, clip(e.Helper))
}

// DockerCredentials returns a function for Options.Credential, which reads a user's configuration of Docker, usually ~/.docker/config.json,
// at each call, so a login is noticed. A file that does not exist has no credentials. The password that the file leaves to a program is an
// error, since a file could name any program.
func DockerCredentials(file string) func(context.Context, string) (Credential, error) {
	return func(ctx context.Context, registry string) (Credential, error) {
		c, err := readDocker(file)
		if err != nil {
			return Credential{}, err
		}
		helper := c.Helpers[registry]
		for _, name := range serverNames(registry) {
			entry, there := c.Auths[name]
			if there && entry != (dockerAuth{}) && helper == "" {
				return entry.credential(registry)
			}
			if there && helper == "" {
				helper = c.Store // the entry says that there was a login
			}
		}
		if helper != "" {
			return Credential{}, &helperError{registry, helper}
		}
		return Credential{}, nil
	}
}

// docker is the configuration of Docker.
type docker struct {
	Auths   map[string]dockerAuth `json:"auths"`
	Helpers map[string]string     `json:"credHelpers"`
	Store   string                `json:"credsStore"`
}

type dockerAuth struct {
	Auth     string `json:"auth"` // base64 of "user:password"
	User     string `json:"username"`
	Password string `json:"password"`
	Identity string `json:"identitytoken"`
	Token    string `json:"registrytoken"`
}

func readDocker(file string) (*docker, error) {
	var c docker
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &c, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCredentials+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxCredentials {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxCredentials)
	}
	if json.Unmarshal(text, &c) != nil { // whose text might show a password
		return nil, fmt.Errorf("%s is not the JSON of Docker's configuration", file)
	}
	return &c, nil
}

func (a dockerAuth) credential(registry string) (Credential, error) {
	c := Credential{User: a.User, Password: a.Password, Identity: a.Identity, Token: a.Token}
	if a.Auth == "" {
		return c, nil
	}
	text, err := base64.StdEncoding.DecodeString(a.Auth)
	user, password, ok := strings.Cut(strings.TrimRight(string(text), "\x00"), ":")
	if err != nil || !ok {
		return Credential{}, fmt.Errorf("the password for %s is not base64 of a user and a password", registry)
	}
	if c.User = user; c.Identity == "" {
		c.Password = password
	}
	return c, nil
}

// serverNames are the names that a registry has in the configuration.
func serverNames(registry string) []string {
	names := []string{registry, "https://" + registry, "https://" + registry + "/", "https://" + registry + "/v2/", "https://" + registry + "/v1/"}
	if registry == "docker.io" || registry == "registry-1.docker.io" {
		names = append(names, "https://index.docker.io/v1/", "index.docker.io")
	}
	return names
}
