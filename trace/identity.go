package trace

import "context"

// Identity says for whom a step was taken. Fields that do not apply are empty. An embedder fills in what it knows.
// Readers of events take it from their context; the engine never decides by it.
type Identity struct {
	Agent       string // which agent or which kind of agent
	Task        string // the task, such as one conversation
	Tenant      string // the customer or the organisation that the task is for
	Correlation string // links the steps of one request across programs
	Model       string // the model that asked for the step
}

// identityKey is the key of an Identity in a context.
type identityKey struct{}

// WithIdentity returns a copy of ctx in which steps are taken for id. Empty fields of id keep the value that ctx has.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	was := IdentityOf(ctx)
	for _, f := range []struct{ to, from *string }{
		{&id.Agent, &was.Agent}, {&id.Task, &was.Task}, {&id.Tenant, &was.Tenant},
		{&id.Correlation, &was.Correlation}, {&id.Model, &was.Model},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns the identity in ctx, or the zero Identity.
func IdentityOf(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}
