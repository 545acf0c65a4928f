/** Rules that change at run time. */
import type { ChatRequest } from '../../src/chat/request.js'
import { createMemory, createReplies, type RuleInput, RulesAtRunTime, rulesFromCode } from '../../src/replies/index.js'
import { textOf } from './replies.js'

export const requestFor = (content: string, more: object = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
})

/** Rules from files, with methods to add others at run time. */
export async function running(written: readonly RuleInput[] = [], { strict = false, scopes = 1000 } = {}) {
  const memory = createMemory(scopes)
  const atRunTime = new RulesAtRunTime()
  const { rules } = await rulesFromCode(written, process.cwd(), 0)
  const replies = createReplies({ rules, seed: 0, strict, memory, atRunTime })
  const answer = async (prompt: string, scope = '') => replies.answer(requestFor(prompt), { scope })
  return {
    ...{ memory, atRunTime, replies, answer },
    add: (rule: RuleInput | readonly RuleInput[], scope?: string) =>
      atRunTime.add(rule, { scope, dir: process.cwd(), seed: 0 }),
    /** The reply to a prompt; a dash stands for the canned reply. */
    async says(prompt: string, scope?: string) {
      const said = await answer(prompt, scope)
      return said.answeredBy.kind === 'canned' ? '-' : textOf(said)
    },
  }
}
