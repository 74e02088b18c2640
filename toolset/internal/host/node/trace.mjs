// What is said about an error: its text, and the lines of the skill that led to it.

import { fileURLToPath } from 'node:url';

const MAX_TEXT = 4000; // characters
const MAX_LINES = 10;

// ExitError is thrown where a toolset calls process.exit.
export class ExitError extends Error {
  constructor(code) {
    super(`the code called process.exit(${code ?? ''})`);
    this.name = 'ExitError';
  }
}

// Unusable says why something is not a toolset or a tool.
export class Unusable extends Error {}

// describe is the type and the text of whatever was thrown.
export function describe(error) {
  if (error instanceof ExitError || error instanceof Unusable) return error.message;
  if (error instanceof RangeError && /call stack/i.test(error.message)) return 'RangeError: calls are nested too deeply';
  if (!(error instanceof Error)) return `thrown: ${cut(String(error?.message ?? error))}`;
  return `${error.name || 'Error'}: ${cut(clean(error.message))}`;
}

// trim has the frames of an error in the files of a skill, innermost first.
export function trim(error, root) {
  const found = [];
  for (const line of String(error?.stack ?? '').split('\n')) {
    const frame = /^\s*at (?:(.*?) \()?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+)(?::\d+)?\)?$/.exec(clean(line));
    const name = frame && within(frame[2], root);
    if (!name) continue;
    const text = `  ${name}, line ${frame[3]}${frame[1] ? `, in ${frame[1].replace(/^async /, '')}` : ''}`;
    if (text !== found.at(-1)) found.push(text); // recursion has the same line again and again
  }
  const place = /^(file:\/\/\S+|\/\S+):(\d+)$/m.exec(String(error?.stack ?? '')); // of a syntax error
  if (found.length === 0 && place && within(place[1], root)) found.push(`  ${within(place[1], root)}, line ${place[2]}`);
  return found.slice(0, MAX_LINES).join('\n');
}

// within is the path of a file in the skill, or "" for a file elsewhere.
function within(file, root) {
  let path;
  try {
    path = (file.startsWith('file:') ? fileURLToPath(file) : file).replace(/\?.*$/, '');
  } catch {
    return '';
  }
  if (!path.startsWith(root) || path.includes('/node_modules/')) return '';
  return path.slice(root.length).replace(/^[\\/]+/, '').replaceAll('\\', '/');
}

function clean(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}

function cut(text) {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT) + ' ...';
}
