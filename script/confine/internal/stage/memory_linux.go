package stage

import (
	"slices"
	"strconv"
	"syscall"
)

// overMemory reports whether the descendants have more memory than the program allows. Pages that processes share are counted
// once: exactly only if the quick count, which counts them again and again, is over the limit.
func (s *stage) overMemory() bool {
	pids := s.descendants()
	var pages uint64
	for _, pid := range pids {
		pages += residentPages(pid)
	}
	if pages*uint64(syscall.Getpagesize()) <= s.program.Memory {
		return false
	}
	var bytes uint64
	for _, pid := range pids {
		bytes += proportional(pid)
	}
	return bytes > s.program.Memory
}

// residentPages returns the pages of a process in memory.
func residentPages(pid int) uint64 {
	list := numbers(read("/proc/"+strconv.Itoa(pid)+"/statm", 4096), nil)
	if len(list) < 2 {
		return 0
	}
	return uint64(list[1])
}

// proportional returns the bytes of a process in memory, with its part of what it shares. Without that figure it returns those
// with all that is shared.
func proportional(pid int) uint64 {
	text := read("/proc/"+strconv.Itoa(pid)+"/smaps_rollup", 1<<16)
	if line, ok := lineOf(text, "Pss:"); ok {
		if list := numbers(line, nil); len(list) == 1 {
			return uint64(list[0]) << 10
		}
	}
	return residentPages(pid) * uint64(syscall.Getpagesize())
}

// lineOf returns the rest of the line that begins with a word.
func lineOf(text []byte, word string) ([]byte, bool) {
	for len(text) > 0 {
		end := slices.Index(text, '\n')
		if end < 0 {
			end = len(text)
		}
		if line := text[:end]; len(line) > len(word) && string(line[:len(word)]) == word {
			return line[len(word):], true
		}
		text = text[min(end+1, len(text)):]
	}
	return nil, false
}
