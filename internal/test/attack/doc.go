// Package attack holds nothing but tests: the command as it was built, against folders of skills that somebody else
// wrote to harm whoever clones them. Each test makes one hostile skill beside good ones and looks at what a user
// sees: the exit code, the problem with its place, what is printed, what it cost, and that the good ones are as they
// were. TestEveryCaseIsProved lists the cases of the attack catalogue with the test that proves each.
package attack
