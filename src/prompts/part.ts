/** Follows what each test tells the model: for the budget, and for the file of prompts. Their code is loaded if one of them is on. */
import path from 'node:path'
import { type Tokenizer, tokenizerNamed } from '../chat/tokens/index.js'
import { type Exchange, usesRecordings } from '../core/exchange.js'
import type { ResetOptions } from '../core/part.js'
import type { IsFromBeforeReset } from '../core/scope.js'
import type { RecordingOptions } from '../recordings/options.js'
import type { Redact } from '../redact/index.js'
import type { Sent, Uses } from './index.js'
import { hasPrompts } from './place.js'

interface PromptsParts {
  readonly journal: {
    /** Returns a function that stops this. */
    follow(listener: (exchange: Exchange) => void): () => void
    readonly isPast: IsFromBeforeReset
  }
  readonly warn: (sentence: string) => void
}

/** What it needs of a configuration. */
export interface ConfiguredPrompts {
  readonly loaded: {
    readonly config: { readonly recordings: RecordingOptions; readonly tokenizer: Tokenizer['name'] }
    readonly dir: string
  }
  readonly redact: Redact
}

export function createPromptsPart({ journal, warn }: PromptsParts, current: () => ConfiguredPrompts) {
  const tests = createTests()
  const overspent: string[] = []
  let settings: Settings | undefined
  let stopFollowing = () => {}

  /** Loads what a configuration needs. Returns a function that puts it into force. */
  async function load(configured: ConfiguredPrompts): Promise<() => void> {
    const next = await settingsOf(configured)
    return () => {
      stopFollowing()
      settings = next
      stopFollowing = next
        ? journal.follow(exchange => journal.isPast(exchange) || note(exchange, next, tests))
        : () => {}
    }
  }

  const sentencesOn = (some: readonly TestPrompts[]) => some.flatMap(test => settings?.overBudget(test) ?? [])
  const end = (scope?: string) => void overspent.push(...sentencesOn(tests.end(scope)))

  return {
    open: async () => (await load(current()))(),
    prepare: load,
    reset: ({ scope }: ResetOptions) => end(scope),
    async close() {
      stopFollowing()
      end()
      const { ended, hasNobodys } = tests
      if (!settings?.isWritten || (ended.size === 0 && !hasNobodys())) return
      const written = settings.write({ tests: ended, hasNobodys: hasNobodys() })
      await written.catch(({ code, message }) => warn(code ? `prompts.yaml was not written (${code}).` : message))
    },
    /** Takes the sentences of another process of the run. */
    join: (sentences: readonly string[]) => void overspent.push(...sentences),
    /** Sentences about tests under way that have exceeded the budget; with `all`, also about those that have ended. */
    overBudget: (all = false): readonly string[] => [...(all ? overspent : []), ...sentencesOn(tests.underWay())],
  }
}

type Settings = NonNullable<Awaited<ReturnType<typeof settingsOf>>>

/** `undefined` if there is neither a budget nor a file of prompts. */
async function settingsOf({ loaded: { config, dir }, redact }: ConfiguredPrompts) {
  const { budget, ...recordings } = config.recordings
  const isWritten = hasPrompts({ dir: path.resolve(dir, recordings.dir) })
  if (!isWritten && budget.promptTokens === 0 && budget.calls === 0) return undefined
  const tokenizer = await tokenizerNamed(config.tokenizer)
  const { Folder, ignoreFrom, testNameOf } = await import('../recordings/index.js')
  const { addToSent, addUses, chatCallReader, noUses, overBudget, writePrompts } = await import('./index.js')
  const ignore = ignoreFrom(recordings.ignore)
  const folder = new Folder(path.resolve(dir, recordings.dir))
  return {
    isWritten,
    callOf: chatCallReader(redact, ignore, tokenizer),
    testOf: (exchange: Exchange) => testNameOf(exchange, folder.dir),
    addToSent,
    addUses,
    noUses,
    overBudget: ({ who, sent }: TestPrompts) => overBudget(who, sent, budget),
    write: (found: Pick<Parameters<typeof writePrompts>[0], 'tests' | 'hasNobodys'>) =>
      writePrompts({ ...found, folder, ignore, tokenizer }),
  }
}

/** Counts the call of an exchange for its test. Only exchanges that are recorded or replayed are for the file. */
function note(exchange: Exchange, settings: Settings, tests: Tests): void {
  const call = settings.callOf(exchange)
  if (!call) return
  const test = tests.of(exchange, settings)
  const { status = 0, code } = exchange.outcome ?? {}
  if (code === 'no_recording') test.isPartial = true
  // Refused requests cost nothing, and are sent again.
  if (status < 200 || status >= 400) return
  settings.addToSent(test.sent, call)
  if (exchange.mode && usesRecordings(exchange.mode)) settings.addUses(test.uses, call)
}

/** What one test has sent since it began, or since its scope was reset. */
interface TestPrompts {
  readonly scope: string
  /** In messages. */
  readonly who: string
  /** Its name; empty if there is no test. */
  readonly name: string
  readonly sent: Sent
  readonly uses: Uses
  /** Whether a request had no recording, so that others may not have been sent. */
  isPartial: boolean
}

type Tests = ReturnType<typeof createTests>

function createTests() {
  const ended = new Map<string, Uses>()
  let hasNobodys = false
  let underWay: readonly TestPrompts[] = []
  return {
    underWay: () => underWay,
    /** The test that an exchange belongs to. */
    of(exchange: Exchange, { testOf, noUses }: Pick<Settings, 'testOf' | 'noUses'>): TestPrompts {
      const { scope } = exchange
      const name = testOf(exchange)
      const known = underWay.find(one => one.name === name && one.scope === scope)
      if (known) return known
      const who = scope === '' ? name || 'The run' : `scope "${scope}"`
      const sent = { calls: 0, promptTokens: 0, largest: undefined }
      const added: TestPrompts = { scope, who, name, sent, uses: noUses(), isPartial: false }
      underWay = [...underWay, added]
      return added
    },
    /** Ends the tests of a scope, or all if none is given, and returns them. A repeated test replaces its entry. */
    end(scope?: string): readonly TestPrompts[] {
      const ending = underWay.filter(test => scope === undefined || test.scope === scope)
      for (const { name, uses, isPartial } of ending) {
        if (name === '') hasNobodys ||= uses.calls > 0
        else if (isPartial) ended.delete(name)
        else if (uses.calls > 0) ended.set(name, uses)
      }
      underWay = underWay.filter(test => !ending.includes(test))
      return ending
    },
    /** The uses of tests that have ended. */
    ended,
    /** Whether there were requests of no test. */
    hasNobodys: () => hasNobodys,
  }
}
