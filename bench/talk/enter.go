//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// quiet is how long a conversation must print nothing to be idle.
const quiet = 60 * time.Millisecond

// measureEnter measures a conversation in a terminal from the press of Enter to the request, and for comparison a post of
// the same bytes over an open connection.
func (t *talk) measureEnter(ctx context.Context, s *server) error {
	line, env := t.agent(s)
	near, cmd, err := inTerminal(ctx, line, append(env, "TERM=xterm-256color"))
	if err != nil {
		return err
	}
	defer near.Close()
	output := make(chan int, 1000)
	go follow(near, output)
	select {
	case <-output: // the greeting
	case <-time.After(patience):
		return errors.Join(errors.New("no greeting"), cmd.Process.Kill(), cmd.Wait())
	}
	var ours []time.Duration
	for range t.rounds {
		took, err := enter(s, near, output)
		if err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
		ours = append(ours, took)
	}
	idle(output)
	if _, err := near.WriteString("\x04"); err != nil { // Ctrl-D ends it
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	report("enter-first", t.n, ours[:1])
	report("enter", t.n, ours[1:])
	return t.posts(ctx, s)
}

// enter types a prompt into an idle conversation, presses Enter and waits for the request.
func enter(s *server, near *os.File, output <-chan int) (time.Duration, error) {
	idle(output)
	if _, err := near.WriteString("hi"); err != nil {
		return 0, err
	}
	idle(output)
	s.taken()
	pressed := time.Now()
	if _, err := near.WriteString("\r"); err != nil {
		return 0, err
	}
	e, err := s.next()
	return e.came.Sub(pressed), err
}

// idle waits until the conversation prints nothing for the time quiet.
func idle(output <-chan int) {
	for {
		select {
		case <-output:
		case <-time.After(quiet):
			return
		}
	}
}

// posts sends the requests of the conversation again.
func (t *talk) posts(ctx context.Context, s *server) error {
	var least []time.Duration
	for _, r := range s.Requests() {
		s.taken()
		begun := time.Now()
		if err := post(ctx, s, r); err != nil {
			return err
		}
		e, err := s.next()
		if err != nil {
			return err
		}
		least = append(least, e.came.Sub(begun))
	}
	report("enter-post", t.n, least[1:])
	return nil
}

// follow reads the output of a program to its end and signals each piece.
func follow(near *os.File, output chan<- int) {
	buf := make([]byte, 1<<16)
	for {
		n, err := near.Read(buf)
		if err != nil { // EIO: the other end is closed
			return
		}
		output <- n
	}
}

// inTerminal starts a command in a new terminal of 80 by 24 and returns the near end.
func inTerminal(ctx context.Context, line, env []string) (*os.File, *exec.Cmd, error) {
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(near.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})); err != nil {
		return nil, nil, errors.Join(err, near.Close())
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, errors.Join(err, near.Close())
	}
	defer far.Close()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, far, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return near, cmd, cmd.Start()
}
