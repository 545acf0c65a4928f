/** Follows what each test tells the model: for the budget, and for the file of prompts. Their code is loaded if one of them is on. */
import path from 'node:path'
import { tokenizerNamed } from '../chat/tokens/index.js'
import { type Exchange, usesRecordings } from '../core/exchange.js'
import type { Journal } from '../journal/index.js'
import type { Definition, Sent, Uses } from '../recordings/index.js'
import type { ResetOptions } from './part.js'
import type { PlatformSources, PreparedConfig } from './prepare.js'

interface PromptsParts {
  readonly journal: Pick<Journal, 'follow' | 'isPast'>
  readonly warn: (sentence: string) => void
  readonly currentTest: NonNullable<PlatformSources['currentTest']>
}

type Configured = Pick<PreparedConfig, 'loaded' | 'redact'>

/** What one test has sent since it began, or since its scope was reset. */
interface TestPrompts {
  readonly scope: string
  /** In messages. */
  readonly who: string
  /** In the file; empty if there is no test. */
  readonly entry: string
  readonly sent: Sent
  readonly uses: Uses
  /** Whether a request had no recording, so that others may not have been sent. */
  isPartial: boolean
}

export function createPromptsPart({ journal, warn, currentTest }: PromptsParts, current: () => Configured) {
  const definitions = new Map<string, Definition>()
  /** The entries of tests that have ended. A repeated test replaces its entry. */
  const ended = new Map<string, Uses>()
  const overspent: string[] = []
  let isAboutRecordings = false
  let underWay: TestPrompts[] = []
  let follow = () => () => {}
  let stopFollowing = () => {}
  let sentenceFor = (_test: TestPrompts): string | undefined => undefined

  function testOf({ scope }: Exchange): TestPrompts {
    const test = currentTest()
    const name = scope || test?.name || ''
    const entry = test && name ? `${test.file} > ${name}` : name
    const known = underWay.find(one => one.entry === entry && one.scope === scope)
    if (known) return known
    const who = scope === '' ? entry || 'The run' : `scope "${scope}"`
    const sent = { calls: 0, promptTokens: 0, largest: undefined }
    const added: TestPrompts = { scope, who, entry, sent, uses: new Map(), isPartial: false }
    underWay.push(added)
    return added
  }

  /** Loads what a configuration needs. Returns a function that puts it into force. */
  async function load({ loaded: { config }, redact }: Configured): Promise<() => void> {
    const { prompts, budget, ignore } = config.recordings
    const isOn = prompts || budget.promptTokens > 0 || budget.calls > 0
    if (!isOn)
      return () => {
        follow = () => () => {}
      }
    const { addToSent, addUses, chatCallReader, ignoreFrom, overBudget } = await import('../recordings/index.js')
    const callOf = chatCallReader(redact, ignoreFrom(ignore), await tokenizerNamed(config.tokenizer))
    function take(exchange: Exchange): void {
      const { status = 0, code } = exchange.outcome ?? {}
      const call = journal.isPast(exchange) ? undefined : callOf(exchange)
      if (!call) return
      const test = testOf(exchange)
      if (code === 'no_recording') test.isPartial = true
      // Refused requests cost nothing, and are sent again.
      if (status < 200 || status >= 400) return
      addToSent(test.sent, call)
      if (!prompts || !exchange.mode || !usesRecordings(exchange.mode)) return
      addUses(test.uses, call)
      for (const one of call.definitions) definitions.set(one.label, one)
    }
    return () => {
      follow = () => journal.follow(take)
      sentenceFor = ({ who, sent }) => overBudget(who, sent, budget)
    }
  }

  /** The tests of a scope have ended; without one, all tests. */
  function end(scope?: string): void {
    const isEnding = (test: TestPrompts) => scope === undefined || test.scope === scope
    for (const test of underWay.filter(isEnding)) {
      overspent.push(...[sentenceFor(test)].filter(sentence => sentence !== undefined))
      if (test.entry === '') isAboutRecordings ||= test.uses.size > 0
      else if (test.isPartial) ended.delete(test.entry)
      else if (test.uses.size > 0) ended.set(test.entry, test.uses)
    }
    underWay = underWay.filter(test => !isEnding(test))
  }

  function apply(put: () => void): void {
    put()
    stopFollowing()
    stopFollowing = follow()
  }

  return {
    open: async () => apply(await load(current())),
    async prepare(next: Configured) {
      const put = await load(next)
      return () => apply(put)
    },
    reset: ({ scope }: ResetOptions) => end(scope),
    async close() {
      stopFollowing()
      end()
      const { config, dir } = current().loaded
      if (!config.recordings.prompts || (ended.size === 0 && !isAboutRecordings)) return
      const { ignoreFrom, openFolder, writePrompts } = await import('../recordings/index.js')
      const folder = openFolder(path.resolve(dir, config.recordings.dir))
      const [ignore, tokenizer] = [ignoreFrom(config.recordings.ignore), await tokenizerNamed(config.tokenizer)]
      await writePrompts({
        ...{ folder, ignore, tokenizer, isAboutRecordings },
        ...{ tests: ended, definitions: definitions.values() },
      }).catch(({ code, message }: NodeJS.ErrnoException) =>
        warn(code ? `prompts.yaml was not written (${code}).` : message),
      )
    },
    /** Sentences about tests under way that have exceeded the budget; with `all`, also about those that have ended. */
    overBudget: (all = false): readonly string[] => [
      ...(all ? overspent : []),
      ...underWay.map(sentenceFor).filter(sentence => sentence !== undefined),
    ],
  }
}
