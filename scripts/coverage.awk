# Prints the coverage of each core package from a profile that several test binaries wrote. A block counts as covered
# if any of them reached it. The exit code is 1 if a package is below the minimum.
# Variables: min (percent), core (package directories), module (module path).
FNR == 1 { next } # mode line
{
	# module/package/file.go:line.column,line.column statements count
	dir = $1
	sub(/\/[^\/]*$/, "", dir)
	dir = substr(dir, length(module) + 2)
	if (!($1 in size)) total[dir] += size[$1] = $2
	if ($3 > 0 && !($1 in hit)) { hit[$1]; covered[dir] += $2 }
}
END {
	n = split(core, names, " ")
	for (i = 1; i <= n; i++) {
		dir = names[i]
		if (!total[dir]) continue
		percent = 100 * covered[dir] / total[dir]
		low = percent < min
		if (low) bad = 1
		printf "%-14s %5.1f %% of %d statements%s\n", dir, percent, total[dir], low ? ", under " min " %" : ""
	}
	exit bad
}
