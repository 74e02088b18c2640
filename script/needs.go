package script

import (
	"github.com/agent-base/agent-base/script/pyenv"
	"github.com/agent-base/agent-base/script/survey"
)

// needs returns what a Python script needs: what its block says, or else what the files of the skill declare, and what the
// user added for the skill. A script that imports nothing but Python's own modules and files of the skill gets no packages
// that it does not ask for in a block: they are for the skill's other scripts.
func (src *source) needs(text []byte) (*pyenv.Needs, error) {
	with := pythonPackages(src.with)
	block, err := pyenv.ParseBlock(text)
	if err != nil {
		return nil, src.refused(err)
	}
	if block != nil && len(block.Dependencies) > 0 {
		return block.And(with), nil
	}
	needs := block
	if needs == nil {
		needs, err = pyenv.Declared(src.s.FS(), src.sc.File)
	}
	if err == nil && len(needs.Dependencies)+len(with) == 0 {
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	modules, all := survey.Outside(src.s.FS(), src.sc.File, text)
	alone := all && len(modules) == 0
	switch {
	case err != nil && alone:
		return &pyenv.Needs{}, nil // a broken declaration of packages that it does not import
	case err != nil:
		return nil, src.refused(err)
	case alone:
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	return needs.And(with), nil
}

// refused returns the error for a declaration that cannot be followed.
func (src *source) refused(err error) error {
	return src.fail(ReasonMetadata, err, "is not run: %v", err)
}
