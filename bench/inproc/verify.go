package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/store"
)

// measureVerify measures the verification of all skills of a tree, and for comparison the plain reading of their files by as
// many goroutines.
func measureVerify(ctx context.Context, tree string, rounds int) error {
	root := filepath.Join(tree, "skills")
	folders, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	var list []store.Content
	for _, d := range folders {
		path := filepath.Join(root, d.Name())
		sum, err := dirhash.Dir(ctx, os.DirFS(path), nil)
		if err != nil {
			return err
		}
		list = append(list, store.Content{Path: path, Digest: sum.Digest})
	}
	verified, err := times(rounds, func(int) error { return errors.Join(store.VerifyAll(ctx, list)...) })
	if err != nil {
		return err
	}
	read, err := times(rounds, func(int) error { return readAll(list) })
	if err != nil {
		return err
	}
	report("verify", len(list), verified, "")
	report("verify-read", len(list), read, "")
	return nil
}

// readAll reads every file of the folders.
func readAll(list []store.Content) error {
	folders := make(chan string)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var work sync.WaitGroup
	for i := range errs {
		work.Go(func() {
			for dir := range folders {
				errs[i] = errors.Join(errs[i], filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						_, err = os.ReadFile(path)
					}
					return err
				}))
			}
		})
	}
	for _, c := range list {
		folders <- c.Path
	}
	close(folders)
	work.Wait()
	return errors.Join(errs...)
}
