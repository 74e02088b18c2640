package acp

import (
	"context"
	"encoding/json"
	"slices"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// The options of a session.
const (
	modeOption   = "mode"
	modelOption  = "model"
	effortOption = "effort"
)

// options returns the options of the session, with their present values.
func (s *session) options() []protocol.SessionConfigOption {
	talk := s.talk.Load()
	var modes, models, efforts []protocol.SessionConfigSelectOption
	for _, m := range talk.Modes() {
		modes = append(modes, protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(m.Mode), Name: string(m.Mode), Description: protocol.Ptr(m.About)})
	}
	s.mu.Lock()
	names := slices.Clone(s.models)
	s.mu.Unlock()
	if now := talk.Model(); !slices.Contains(names, now) {
		names = append([]string{now}, names...)
	}
	for _, name := range names {
		models = append(models, named(name))
	}
	for _, word := range talk.Efforts() {
		efforts = append(efforts, named(word))
	}
	out := []protocol.SessionConfigOption{
		choice(modeOption, "Mode", "what needs no question", protocol.SessionConfigOptionCategoryMode, string(talk.Mode()), modes),
		choice(modelOption, "Model", "which model answers", protocol.SessionConfigOptionCategoryModel, talk.Model(), models),
	}
	if len(efforts) > 1 {
		out = append(out, choice(effortOption, "Effort", "how much the model thinks", protocol.SessionConfigOptionCategoryThoughtLevel, talk.Effort(), efforts))
	}
	return out
}

func named(name string) protocol.SessionConfigSelectOption {
	return protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(name), Name: ui.Line(name)}
}

func choice(id, name, about string, category protocol.SessionConfigOptionCategory, now string, values []protocol.SessionConfigSelectOption) protocol.SessionConfigOption {
	list := protocol.SessionConfigSelectOptionsUngrouped(values)
	return protocol.SessionConfigOption{Select: &protocol.SessionConfigOptionSelect{Id: protocol.SessionConfigId(id), Name: name, Description: &about, Type: "select",
		Category: &category, CurrentValue: protocol.SessionConfigValueId(now), Options: protocol.SessionConfigSelectOptions{Ungrouped: &list}}}
}

// choose sets an option. The model and its effort change only between prompts.
func (s *session) choose(ctx context.Context, id protocol.SessionConfigId, value string) (err error) {
	change := s.talk.Load().SetModel
	switch id {
	case modeOption:
		return s.setMode(protocol.SessionModeId(value))
	case effortOption:
		change = s.talk.Load().SetEffort
	case modelOption:
	default:
		return wrong("no option %.40q: there are %s, %s and %s", id, modeOption, modelOption, effortOption)
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.claim(cancel); err != nil {
		return err
	}
	defer s.finish()
	return change(work, value)
}

// look finds out which models can be reached, and shows them.
func (s *session) look(ctx context.Context) {
	names := s.talk.Load().Models(ctx)
	s.mu.Lock()
	s.models = names
	s.mu.Unlock()
	s.tellOptions()
}

// shownOptions returns the options, and notes that the editor shows them.
func (s *session) shownOptions() []protocol.SessionConfigOption {
	list, _ := s.noteOptions()
	return list
}

// tellOptions shows the options if they have changed.
func (s *session) tellOptions() {
	if list, changed := s.noteOptions(); changed {
		s.update(protocol.SessionUpdate{ConfigOptionUpdate: &protocol.SessionConfigOptionUpdate{ConfigOptions: list}})
	}
}

// noteOptions returns the options, and reports whether the editor shows others. From now on it shows these.
func (s *session) noteOptions() (list []protocol.SessionConfigOption, changed bool) {
	list = s.options()
	text, _ := json.Marshal(list) // it has nothing that JSON does not know
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.chosen != string(text) && !s.over
	s.chosen = string(text)
	return list, changed
}

// tellUsage shows how full the model's window is, and what the session has cost.
func (s *session) tellUsage() {
	used, window, cost := s.talk.Load().Usage()
	if used == 0 || window == 0 {
		return
	}
	u := &protocol.SessionUsageUpdate{Used: used, Size: window}
	if cost > 0 {
		u.Cost = &protocol.Cost{Amount: cost, Currency: "USD"}
	}
	s.update(protocol.SessionUpdate{UsageUpdate: u})
}

// tellMode shows the mode if an answer or a command changed it.
func (s *session) tellMode() {
	now := s.talk.Load().Mode()
	s.mu.Lock()
	same := s.mode == now
	s.mode = now
	s.mu.Unlock()
	if !same {
		s.update(protocol.SessionUpdate{CurrentModeUpdate: &protocol.SessionCurrentModeUpdate{CurrentModeId: protocol.SessionModeId(now)}})
		s.tellOptions()
	}
}

// modes returns the modes that may be chosen, for editors that do not know options.
func (s *session) modes() *protocol.SessionModeState {
	out := &protocol.SessionModeState{CurrentModeId: protocol.SessionModeId(s.talk.Load().Mode())}
	for _, m := range s.talk.Load().Modes() {
		out.AvailableModes = append(out.AvailableModes, protocol.SessionMode{Id: protocol.SessionModeId(m.Mode), Name: string(m.Mode), Description: protocol.Ptr(m.About)})
	}
	return out
}

func (s *session) setMode(id protocol.SessionModeId) error {
	if err := s.talk.Load().SetMode(permit.Mode(id)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = permit.Mode(id)
	return nil
}
