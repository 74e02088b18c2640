// Package attack tests the built command against hostile folders of skills. It has no code of its own. Each test puts
// one hostile skill next to good ones and checks what a user sees: the exit code, the problem with its place, the output,
// the cost, and that the good skills have not changed. TestEveryCaseIsProved lists the cases of attack with their tests.
package attack
