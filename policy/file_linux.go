package policy

// File returns where the document of this machine is. No variable of the environment says it.
func File() string { return "/etc/agent/policy.yaml" }
