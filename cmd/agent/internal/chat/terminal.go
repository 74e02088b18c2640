package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Run holds a conversation until the user leaves, the input ends or ctx does; only then is there an error that is not of
// reading or writing: ctx's. Errors of a turn or a command are shown, and the conversation goes on.
//
// In a terminal it changes the terminal's mode and sets it back before it returns. When it returns, no goroutine that it
// started is left; a tool that does not end when its context is cancelled is waited for.
func Run(ctx context.Context, o *Options) error {
	o = o.withDefaults()
	var entries []string
	var failed error
	if o.History != nil {
		entries, failed = o.History.Load()
	}
	s := newState(o, entries)
	if !o.Terminal {
		return runPlain(ctx, o, s)
	}
	in, ok := o.In.(*os.File)
	out, ok2 := o.Out.(*os.File)
	if !ok || !ok2 {
		return fmt.Errorf("a conversation in a terminal needs files, not %T and %T", o.In, o.Out)
	}
	if err := s.measure(out); err != nil {
		return err
	}
	s.greet()
	if failed != nil {
		s.notice("the history cannot be read: " + failed.Error())
	}
	return runTerminal(ctx, s, in, out)
}

// measure asks the terminal for its size.
func (s *state) measure(out *os.File) error {
	width, height, err := term.GetSize(out.Fd())
	if err != nil {
		return fmt.Errorf("asking the terminal for its size: %w", err)
	}
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	s.update(sizeEvent{width, height})
	return nil
}

func runTerminal(outer context.Context, s *state, in, out *os.File) error {
	o := s.o
	if _, err := out.WriteString(strings.Join(append(s.out, ""), "\r\n")); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	s.out = nil
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	profile := colorprofile.ANSI
	if !o.Colour {
		profile = colorprofile.ASCII
	}
	m := &model{o: o, s: s, ctx: ctx, stop: func() {}}
	joined := &joiner{file: out, first: func() { m.work.Go(func() { m.send(drawnEvent{}) }) }}
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(joined), tea.WithColorProfile(profile),
		tea.WithEnvironment([]string{"TERM=" + o.Term}), tea.WithoutSignalHandler(), tea.WithFilter(m.filter), tea.WithFPS(fps))
	m.send = func(e event) { p.Send(e) }
	o.Prompter.attach(m.send)
	defer o.Prompter.attach(nil)
	defer context.AfterFunc(outer, func() { m.send(leaveEvent{}) })()
	_, err := p.Run()
	cancel()
	m.work.Wait()
	for _, q := range s.questions {
		q.answer <- false
	}
	if err = errors.Join(err, joined.flush()); err != nil {
		return fmt.Errorf("running the terminal: %w", err)
	}
	return outer.Err()
}

// fps is how often the library looks for something to draw: a key is echoed after 8 ms at most.
const fps = 120

// model connects the state with the library that draws it and reads the keys. Its methods run in the library's loop.
type model struct {
	o    *Options
	s    *state
	ctx  context.Context // of Run: work is started from the loop, which has none of its own
	send func(event)
	work sync.WaitGroup
	stop context.CancelFunc // ends the turn or command that runs

	drawn    bool // the library has drawn once: before that it does not know where the live rows are
	printing bool // a pump is on its way
	printed  int  // how many times something was printed
}

// pump asks for the next rows to be printed, drawnEvent tells that the live rows are on the screen.
type (
	pump       struct{}
	drawnEvent struct{}
)

// Init starts nothing: the terminal tells its size by itself.
func (m *model) Init() tea.Cmd { return nil }

// Update lets an event happen and does what comes of it.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.s.now = m.o.Now()
	cmds := m.do(m.s.update(m.translate(msg)))
	if msg == (drawnEvent{}) {
		m.drawn = true
	}
	if len(m.s.out) > 0 && !m.printing && m.drawn {
		m.printing = true
		cmds = append(cmds, func() tea.Msg { return pump{} })
	} else if m.s.leaving && !m.printing && m.drawn {
		cmds = append(cmds, tea.Quit)
	}
	return m, tea.Batch(cmds...)
}

// filter makes rows to print of a pump. One pump is under way at a time: that keeps the rows in order. Each takes only
// what fits above the live rows, because the library leaves a gap where it prints more than the screen holds.
func (m *model) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(pump); !ok {
		return msg
	}
	m.printing = false
	n := min(max(m.s.height-len(m.s.view().rows)-1, 1), len(m.s.out))
	if n == 0 {
		return nil
	}
	m.printed++
	text := strings.Join(m.s.out[:n], "\n")
	if m.s.out = m.s.out[n:]; len(m.s.out) == 0 {
		m.s.out = nil
	}
	return tea.Println(text)()
}

func (m *model) translate(msg tea.Msg) event {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Mod == tea.ModCtrl || msg.Mod == tea.ModAlt {
			msg.Text = ""
		}
		return keyEvent{key: msg.Keystroke(), text: msg.Text}
	case tea.PasteMsg:
		return pasteEvent{msg.Content}
	case tea.WindowSizeMsg:
		return sizeEvent{msg.Width, msg.Height}
	}
	return msg
}

func (m *model) do(effects []effect) []tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range effects {
		switch e := e.(type) {
		case startTurn:
			m.start(func(ctx context.Context) { follow(ctx, m.o.Ask(ctx, e.prompt), m.send) })
		case startCommand:
			m.start(func(ctx context.Context) { run(ctx, e, m.send) })
		case stopWork:
			m.stop()
		case remember:
			m.remember(e.entry)
		case suspend:
			cmds = append(cmds, tea.Suspend)
		case clearView:
			cmds = append(cmds, tea.ClearScreen)
		}
	}
	return cmds
}

// remember writes the history beside the loop: the disk may be slow.
func (m *model) remember(entry string) {
	if m.o.History == nil {
		return
	}
	m.work.Go(func() {
		if err := m.o.History.Add(m.ctx, entry); err != nil && m.ctx.Err() == nil {
			m.send(noticeEvent{"the history cannot be written: " + err.Error()})
		}
	})
}

// start lets work run beside the loop; runTerminal waits for it.
func (m *model) start(f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(m.ctx)
	m.stop = cancel
	m.work.Go(func() {
		defer cancel()
		f(ctx)
	})
}

// View draws the live rows.
func (m *model) View() tea.View {
	sc := m.s.view()
	if len(sc.rows) == 0 {
		return tea.NewView("")
	}
	v := tea.NewView(strings.Join(sc.rows, "\n") + m.stamp())
	v.Cursor = tea.NewCursor(sc.x, sc.y)
	v.Cursor.Blink = false
	return v
}

// stamp makes the content another one after each print, and shows nothing: it is a number written with two spellings of
// the sequence that ends all colours, which the library reads and does not pass on. The library draws, and puts the
// cursor back where it belongs after a print, only when the content is not the one it drew last.
func (m *model) stamp() string {
	var b strings.Builder
	for n := m.printed; n > 0; n /= 2 {
		if n%2 == 0 {
			b.WriteString("\x1b[0m")
		} else {
			b.WriteString("\x1b[m")
		}
	}
	return b.String()
}

// joiner writes to the terminal in whole frames. The library prints finished rows at once, and draws the live ones a
// moment later: between the two the screen would show the same text twice. What is printed waits for what is drawn.
type joiner struct {
	file  *os.File
	first func() // called at the first frame
	mu    sync.Mutex
	held  []byte
}

// maxJoined is how many bytes wait at most.
const maxJoined = 1 << 16

func (j *joiner) Read(b []byte) (int, error) { return j.file.Read(b) }
func (j *joiner) Close() error               { return j.file.Close() }
func (j *joiner) Fd() uintptr                { return j.file.Fd() }

// Write writes b after what waits, or lets it wait: rows that are printed begin with a carriage return.
func (j *joiner) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.held = append(j.held, b...)
	if len(b) > 0 && b[0] == '\r' && len(j.held) < maxJoined {
		return len(b), nil
	}
	if j.first != nil && bytes.Contains(b, []byte(ansi.SetModeBracketedPaste)) { // part of the first frame
		j.first()
		j.first = nil
	}
	return len(b), j.flush()
}

func (j *joiner) flush() error {
	_, err := j.file.Write(j.held)
	j.held = j.held[:0]
	return err
}
