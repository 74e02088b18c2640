package allow

import "testing"

func TestQuoted(t *testing.T) {
	for command, want := range map[string]string{
		`python3 ${D}/a.py`:                               `python3 "${D}"/a.py`,
		`$D/a.sh $OTHER`:                                  `"$D"/a.sh $OTHER`,
		`"$D/a.sh" '$D'`:                                  `"$D/a.sh" '$D'`,
		`bash "${D}"/a.sh`:                                `bash "${D}"/a.sh`,
		`${D:-.}/a && cat < $D/x > ${D}/y`:                `"${D:-.}"/a && cat < "$D"/x > "${D}"/y`,
		`echo "$(cat $D/x) $D"`:                           `echo "$(cat "$D"/x) $D"`,
		"cat <<E\n$D\nE\n":                                "cat <<E\n$D\nE\n",
		`for f in $D/*.md; do echo $f; done`:              `for f in "$D"/*.md; do echo $f; done`,
		`echo $((D + 1)) é $D`:                            `echo $((D + 1)) é "$D"`,
		`X=$D/y; [[ $D == /a ]] && case $D in x) ;; esac`: `X="$D"/y; [[ "$D" == /a ]] && case "$D" in x) ;; esac`,
		`echo "`: `echo "`,
		``:       ``,
	} {
		if got := Quoted(command, "D"); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}
