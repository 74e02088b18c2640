import { z } from 'zod';
import { Tool } from '@agent/tools';

export const shout = Tool.define('shout-it', {
  description: 'Says it louder',
  parameters: z.object({
    text: z.string(),
  }),
  execute: async (args, ctx) => ({
    title: 'Shouted',
    metadata: {},
    output: `${args.text.toUpperCase()}!`,
  }),
});

export const Shouting = [shout];
