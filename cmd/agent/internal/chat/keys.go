package chat

import "strings"

// key handles a key that the user pressed.
func (s *state) key(k keyEvent) []effect {
	s.typed = s.now
	if len(s.questions) > 0 {
		return s.replyKey(k)
	}
	s.hint = ""
	if s.search != nil && s.searchKey(k) {
		return nil
	}
	again := s.escaped
	s.escaped = false
	if s.popupKey(k) {
		return nil
	}
	before, text := s.popup, s.input.text
	s.popup = nil
	effects, done := s.command(k, again)
	if done {
		return effects
	}
	if (k.key == "backspace" || k.key == "ctrl+h") && s.dropBack() {
		return nil
	}
	if !s.input.key(k.key) && k.text != "" {
		s.insert(k.text)
	}
	if s.input.text == text {
		return nil
	}
	return s.offer(before)
}

// command handles a key that does more than to edit the line. It reports whether k is one.
func (s *state) command(k keyEvent, again bool) (effects []effect, done bool) {
	switch k.key {
	case "esc":
		return s.escape(again), true
	case "ctrl+c":
		return s.interrupt(), true
	case "ctrl+d":
		if s.input.text != "" {
			return nil, false
		}
		return s.quit(), true
	case "ctrl+z":
		return []effect{suspend{}}, true
	case "ctrl+l":
		s.clearScreen()
	case "ctrl+r":
		s.startSearch()
	case "ctrl+g":
		if s.o.Editor != nil {
			return []effect{edit{s.unfold(s.input.text)}}, true
		}
	case "ctrl+o":
		s.open("")
	case "enter", "kpenter":
		return s.enter(), true
	case "alt+enter", "shift+enter", "ctrl+enter", "ctrl+j":
		s.insert("\n")
	case "tab":
		return s.complete(), true
	case "up", "ctrl+p":
		if !s.withdrawPrompt() && !s.input.vertical(-1, s.inputRoom()) {
			s.past.move(-1, &s.input)
		}
	case "down", "ctrl+n":
		if !s.input.vertical(1, s.inputRoom()) {
			s.past.move(1, &s.input)
		}
	default:
		return nil, false
	}
	return nil, true
}

// clearScreen moves everything printed above the screen, into the scrollback.
func (s *state) clearScreen() {
	s.out = append(s.out, make([]string, s.height)...)
	s.last = nothing
}

// interrupt is Ctrl-C: it stops the work, else empties the input, else shows how to leave.
func (s *state) interrupt() []effect {
	switch {
	case s.busy:
		s.stopping = true
		return []effect{stopWork{}}
	case s.input.text != "":
		s.input.set("")
		s.past.at = len(s.past.entries)
	default:
		s.hint = "Ctrl-D or /quit leaves"
	}
	return nil
}

func (s *state) quit() []effect {
	s.leaving = true
	if s.busy {
		s.stopping = true
		return []effect{stopWork{}, leave{}}
	}
	return []effect{leave{}}
}

// enter sends what was typed.
func (s *state) enter() []effect {
	text := s.unfold(s.input.text)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	text = byWord(text)
	if s.busy && !s.local(text) {
		return s.enqueue(text)
	}
	s.input.set("")
	s.past.add(text)
	return append([]effect{remember{text}}, s.submit(text)...)
}

// byWord returns /exit for exit and /quit for quit: these words, which leave a shell, make no prompt. Other texts stay unchanged.
func byWord(text string) string {
	if word := strings.TrimSpace(text); word == "exit" || word == "quit" {
		return "/" + word
	}
	return text
}

// paste inserts pasted text unchanged, including line ends. It never answers a question.
func (s *state) paste(text string) {
	if len(s.questions) > 0 {
		return
	}
	s.hint, s.popup = "", nil
	if len(s.unfold(s.input.text))+len(text) > maxInput {
		s.hint = tooLong
		return
	}
	if !s.drop(text) {
		s.insert(s.fold(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)))
	}
}

const tooLong = "a prompt has at most 1 MiB"

func (s *state) insert(text string) {
	if !s.input.insert(text) {
		s.hint = tooLong
	}
}
