// Holds a conversation with agent over lines of JSON; docs/stream.md describes them.
//
//	node client.mjs 'Run the tests.' 'Now fix what fails.'
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** One conversation. Texts in its lines are foreign: models, commands and files wrote them. */
export class Agent {
  constructor(...flags) {
    this.process = spawn('agent', ['--input-format', 'json', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  send(line) {
    this.process.stdin.write(JSON.stringify(line) + '\n');
  }

  /** Yields the lines of one turn. decide gets each question and returns the answer, or a promise of it; '' means no. */
  async *ask(prompt, decide) {
    this.send({ type: 'prompt', text: prompt });
    for (let next; !(next = await this.lines.next()).done;) {
      const line = JSON.parse(next.value);
      yield line;
      if (line.type === 'question') this.send({ type: 'answer', id: line.id, answer: await decide(line.text, line.question) });
      if (line.type === 'end') return;
    }
  }

  close() {
    this.process.stdin.end();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) { // it was not imported
  const plain = (text) => JSON.stringify(text).replace(/[^ -~]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const decide = async (text, { details = [], choices = [] }) => {
    console.log('question', ...[text, ...details, ...choices.map((c) => `${c.answer}=${c.means}`)].map(plain));
    return (await answers.next()).value?.trim() ?? '';
  };
  const agent = new Agent();
  for (const prompt of process.argv.slice(2)) {
    for await (const line of agent.ask(prompt, decide)) {
      if (['text', 'output', 'error'].includes(line.type)) console.log(line.type, plain(line.text));
    }
  }
  agent.close();
  process.stdin.destroy();
}
