import { z } from 'zod';
import { Tool } from '@agent/tools';
import { mark } from './typed-helper.js'; // the compiled name of a file of TypeScript
import { other } from './typed-helper';
import type { NotThere } from './nowhere';

const parameters = z.object({ name: z.string().min(1) });
type Args = z.infer<typeof parameters>;

interface Context {
  signal: AbortSignal;
}

export const greet = Tool.define('greet', {
  description: 'Greet somebody',
  parameters,
  execute: async ({ name }: Args, ctx: Context): Promise<string> => `${mark} ${other} ${name} ${ctx.signal.aborted}` satisfies string,
});

export class Typed {
  private readonly tools = [greet];

  public getTools(): (typeof greet)[] {
    return this.tools;
  }
}
