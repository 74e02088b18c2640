package pack

import (
	"bytes"
	"fmt"
	"html"
)

// pageName is the name of the page for people in the folder of a site.
const pageName = "index.html"

// pageMark begins the pages that Index wrote. Another page is somebody's own and stays.
const pageMark = "<!doctype html><!-- made from the discovery index -->\n"

// page returns a page for people that lists the skills of a site. It has no script and loads nothing. All texts are foreign.
func page(entries []Entry) []byte {
	var b bytes.Buffer
	b.WriteString(pageMark + `<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Agent Skills</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}code{overflow-wrap:anywhere}</style>
<h1>Agent Skills</h1>
<p>Programs find these skills by the <a href="` + Folder + `/index.json">discovery index</a> of this site. Look at what a skill does before you install it.</p>
<dl>
`)
	for _, e := range entries {
		fmt.Fprintf(&b, "<dt id=\"%s\"><a href=\"%s\"><b>%s</b></a></dt>\n<dd>%s<br><code>%s</code></dd>\n",
			html.EscapeString(e.Name), Folder+"/"+html.EscapeString(e.URL), html.EscapeString(e.Name), html.EscapeString(e.Description), html.EscapeString(e.Digest))
	}
	b.WriteString("</dl>\n</html>\n")
	return b.Bytes()
}
