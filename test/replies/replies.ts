/** Replies of rules that are written in a test. */
import { createReplies, type Generation, joined, type RuleInput, rulesFromCode } from '../../src/replies/index.js'

/** Replies with these rules. */
export async function repliesOf(rules: readonly RuleInput[], { seed = 0, strict = false } = {}) {
  const loaded = await rulesFromCode(rules, process.cwd(), seed)
  return createReplies({ rules: joined([loaded]).rules, seed, strict })
}

/** The text of the first choice. */
export const textOf = ({ choices }: Generation) => choices[0]?.text
