package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Run holds a conversation until the user leaves, the input ends or ctx is done. It returns ctx's error in the last case,
// and errors of reading and writing. It shows errors of a turn or a command, and the conversation goes on.
//
// Run changes the mode of a terminal and restores it before it returns. When it returns, all goroutines that it started
// have ended. It waits for a tool that does not end when its context is cancelled.
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
		s.notice("cannot read the history: " + failed.Error())
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
	joined := &joinWriter{file: out, crops: o.Crops, first: func() { m.work.Go(func() { m.send(drawnEvent{}) }) }}
	m.draws = joined.draws
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(joined), tea.WithColorProfile(profile),
		tea.WithEnvironment([]string{"TERM=" + o.Term}), tea.WithoutSignalHandler(), tea.WithFilter(m.filter), tea.WithFPS(fps))
	m.send = func(e event) { p.Send(e) }
	o.Prompter.tell(func(text string) { m.send(newsEvent{text}) })
	defer o.Prompter.tell(nil)
	defer o.Prompter.attach(nil, nil)
	defer context.AfterFunc(outer, func() { m.send(leaveEvent{}) })()
	_, err := p.Run()
	cancel()
	m.work.Wait()
	for _, q := range s.questions {
		q.answer <- ""
	}
	if err = errors.Join(err, joined.flush()); err != nil {
		return fmt.Errorf("running the terminal: %w", err)
	}
	return outer.Err()
}

// fps is how often per second the library looks for something to draw, also while a conversation waits all day: a key is echoed within
// 16 ms.
const fps = 60

// model connects the state with the library that draws it and reads keys. Its methods run in the library's loop.
type model struct {
	o     *Options
	s     *state
	ctx   context.Context // Run's: the library's loop, which starts work, has none
	send  func(event)
	work  sync.WaitGroup
	draws func(drawing)      // takes what the library draws next
	stop  context.CancelFunc // ends the turn or command that runs

	drawn    bool // the library has drawn once; before that it does not know where the live rows are
	printing bool // a pump is under way
	printed  int  // how many times rows were printed
	tallest  int  // the most live rows there ever were: the library does not report which view it drew last
	lowest   int  // the lowest row that the cursor may be on
	cursor   int  // the row of the cursor in the last view
	rows     int  // of the last view
}

// pump asks for the next rows to be printed. drawnEvent reports that the live rows are on the screen.
type (
	pump       struct{}
	drawnEvent struct{}
)

// Init does nothing: the library asks the terminal for its size.
func (m *model) Init() tea.Cmd { return nil }

// Update handles a message and does what the state asks for.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.s.now = m.o.Now()
	cmds := m.do(m.s.update(m.translate(msg)))
	if msg == (drawnEvent{}) {
		m.drawn = true
		if m.o.First != "" {
			cmds = append(cmds, m.do(m.s.submit(m.o.First))...)
		}
	}
	if len(m.s.out) > 0 && !m.printing && m.drawn {
		m.printing = true
		cmds = append(cmds, func() tea.Msg { return pump{} })
	} else if m.s.leaving && !m.printing && m.drawn {
		cmds = append(cmds, tea.Quit)
	}
	return m, tea.Batch(cmds...)
}

// filter turns a pump into rows to print. Only one pump is under way at a time, which keeps the rows in order. Each takes
// only as many rows as fit above the live ones: the library leaves a gap when it prints more than the screen holds.
func (m *model) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(pump); !ok {
		return msg
	}
	m.printing = false
	n := min(max(m.s.height-max(m.tallest, len(m.s.view().rows))-1, 1), len(m.s.out))
	if n == 0 {
		return nil
	}
	m.printed++
	m.lowest = m.cursor // after a print the library knows where the cursor is
	text := strings.Join(m.s.out[:n], "\n")
	if m.s.out = m.s.out[n:]; len(m.s.out) == 0 {
		m.s.out = nil
	}
	if text == "" { // the library prints nothing for it
		text = ansi.ResetStyle
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
			m.start(func(ctx context.Context, f *feed) { follow(ctx, m.o.Ask(ctx, e.prompt), f) })
		case startCommand:
			m.start(func(ctx context.Context, f *feed) { run(ctx, e, f) })
		case runMeanwhile:
			m.work.Go(func() {
				if text, err := e.command.Run(m.ctx, e.args); err != nil {
					m.send(failEvent{err})
				} else {
					m.send(outputEvent{text, e.command.Diff})
				}
			})
		case stopWork:
			m.stop()
		case remember:
			m.remember(e.entry)
		case copyText:
			cmds = append(cmds, tea.SetClipboard(e.text))
		case notify:
			seq := "\a"
			if m.o.Term != "linux" { // the console of Linux would print it
				seq += ansi.Notify(e.text)
			}
			cmds = append(cmds, tea.Raw(seq))
		case edit:
			cmds = append(cmds, m.edit(e.text))
		case listFiles:
			m.work.Go(func() {
				files, err := m.o.Files(m.ctx)
				m.send(filesEvent{newFileList(files, err)})
			})
		case suspend:
			cmds = append(cmds, tea.Exec(inTerminal(m.pause), func(err error) tea.Msg {
				if err != nil {
					return noticeEvent{err.Error()}
				}
				return nil
			}))
		}
	}
	return cmds
}

// edit starts the user's editor.
func (m *model) edit(text string) tea.Cmd {
	fail := func(err error) tea.Msg { return noticeEvent{"cannot edit the prompt: " + err.Error()} }
	cmd, edited, err := m.o.Editor(text)
	if err != nil {
		return func() tea.Msg { return fail(err) }
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.o.In, m.o.Out, m.o.Out
	return tea.Exec(inTerminal(cmd.Run), func(err error) tea.Msg {
		text, failed := edited()
		if err = errors.Join(err, failed); err != nil {
			return fail(err)
		}
		return editedEvent{text}
	})
}

// pause stops the program until its shell continues it.
func (m *model) pause() error {
	if !m.o.Stop() {
		return errors.New("no shell can bring the conversation back: it is not stopped")
	}
	_, err := io.WriteString(m.o.Out, strings.Repeat("\r\n", max(m.rows-1, 0))) // where the library finds the live rows
	return err
}

// inTerminal is something that has the terminal for itself.
type inTerminal func() error

// Run waits a moment first: until the library's goroutine that draws has ended, it may stop the clock of the one that draws next.
func (f inTerminal) Run() error {
	time.Sleep(50 * time.Millisecond)
	return f()
}

// These do nothing: what runs has the terminal itself, and the library's own output is not a terminal.
func (inTerminal) SetStdin(io.Reader)  {}
func (inTerminal) SetStdout(io.Writer) {}
func (inTerminal) SetStderr(io.Writer) {}

// maxRemember is how long leaving the conversation waits for the history to be written.
const maxRemember = 2 * time.Second

// remember writes the history in a goroutine of its own: the disk may be slow. Leaving does not lose the last entry.
func (m *model) remember(entry string) {
	if m.o.History == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), maxRemember)
	m.work.Go(func() {
		defer cancel()
		if err := m.o.History.Add(ctx, entry); err != nil && m.ctx.Err() == nil {
			m.send(noticeEvent{"cannot write the history: " + err.Error()})
		}
	})
}

// start runs work in its own goroutine; runTerminal waits for it. Only work asks questions.
func (m *model) start(work func(ctx context.Context, f *feed)) {
	ctx, cancel := context.WithCancel(m.ctx)
	m.stop = cancel
	f := &feed{send: m.send}
	m.o.Prompter.attach(f.ask, f.write)
	m.work.Go(func() {
		defer cancel()
		work(ctx, f)
	})
}

// View draws the live rows. Empty rows below them keep the view as tall as the lowest row that the cursor may be on: from
// a lower one the library does not find the first row to be erased.
func (m *model) View() tea.View {
	sc := m.s.view()
	m.tallest = max(m.tallest, len(sc.rows))
	if m.rows = len(sc.rows); m.rows == 0 {
		return tea.NewView("")
	}
	m.cursor, m.lowest = sc.y, max(sc.y, m.lowest)
	for len(sc.rows) <= min(m.lowest, m.s.height-1) {
		sc.rows = append(sc.rows, "")
	}
	m.rows = len(sc.rows)
	v := tea.NewView(strings.Join(sc.rows, "\n") + m.stamp())
	m.draws(drawing{sc, m.s.width})
	v.Cursor = tea.NewCursor(sc.x, sc.y)
	v.Cursor.Blink = false
	return v
}

// stamp returns invisible text that differs after each print. The library draws, and moves the cursor back after a print,
// only when the content has changed. The stamp is a number written with two spellings of the sequence that ends all
// colours, which the library reads and does not pass on.
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
