// Runs one test file of a skill: node.mjs SKILL_DIR FILE. The tests of node:test run when the file is loaded, and set the exit code.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, file] = process.argv.slice(-2);
await import(pathToFileURL(join(root, file)).href);
