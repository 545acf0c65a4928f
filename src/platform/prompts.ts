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

export function createPromptsPart({ journal, warn, currentTest }: PromptsParts, current: () => Configured) {
  const tests = createTests(currentTest)
  const definitions = new Map<string, Definition>()
  const overspent: string[] = []
  let settings: Settings | undefined
  let stopFollowing = () => {}

  /** Loads what a configuration needs. Returns a function that puts it into force. */
  async function load(configured: Configured): Promise<() => void> {
    const next = await settingsOf(configured)
    return () => {
      stopFollowing()
      settings = next
      stopFollowing = next
        ? journal.follow(exchange => journal.isPast(exchange) || note(exchange, next, tests, definitions))
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
      const { entries, isAboutRecordings } = tests.ended()
      if (!settings?.isWritten || (entries.size === 0 && !isAboutRecordings)) return
      await settings
        .write({ tests: entries, isAboutRecordings, definitions: definitions.values() })
        .catch(({ code, message }: NodeJS.ErrnoException) =>
          warn(code ? `prompts.yaml was not written (${code}).` : message),
        )
    },
    /** Sentences about tests under way that have exceeded the budget; with `all`, also about those that have ended. */
    overBudget: (all = false): readonly string[] => [...(all ? overspent : []), ...sentencesOn(tests.underWay())],
  }
}

type Settings = NonNullable<Awaited<ReturnType<typeof settingsOf>>>

/** `undefined` if the configuration has neither a budget nor the file of prompts. */
async function settingsOf({ loaded: { config, dir }, redact }: Configured) {
  const { prompts, budget, ...recordings } = config.recordings
  if (!prompts && budget.promptTokens === 0 && budget.calls === 0) return undefined
  const loading = import('../recordings/index.js')
  const tokenizer = await tokenizerNamed(config.tokenizer)
  const { addToSent, addUses, chatCallReader, ignoreFrom, openFolder, overBudget, writePrompts } = await loading
  const ignore = ignoreFrom(recordings.ignore)
  const folder = openFolder(path.resolve(dir, recordings.dir))
  return {
    isWritten: prompts,
    callOf: chatCallReader(redact, ignore, tokenizer),
    addToSent,
    addUses,
    overBudget: ({ who, sent }: TestPrompts) => overBudget(who, sent, budget),
    write: (found: Pick<Parameters<typeof writePrompts>[0], 'tests' | 'definitions' | 'isAboutRecordings'>) =>
      writePrompts({ ...found, folder, ignore, tokenizer }),
  }
}

/** Counts the call of an exchange for its test. Only exchanges that are recorded or replayed are for the file. */
function note(exchange: Exchange, settings: Settings, tests: Tests, definitions: Map<string, Definition>): void {
  const call = settings.callOf(exchange)
  if (!call) return
  const test = tests.of(exchange)
  const { status = 0, code } = exchange.outcome ?? {}
  if (code === 'no_recording') test.isPartial = true
  // Refused requests cost nothing, and are sent again.
  if (status < 200 || status >= 400) return
  settings.addToSent(test.sent, call)
  if (!exchange.mode || !usesRecordings(exchange.mode)) return
  settings.addUses(test.uses, call)
  for (const one of call.definitions) definitions.set(one.label, one)
}

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

type Tests = ReturnType<typeof createTests>

function createTests(currentTest: PromptsParts['currentTest']) {
  const entries = new Map<string, Uses>()
  let isAboutRecordings = false
  let underWay: readonly TestPrompts[] = []
  return {
    underWay: () => underWay,
    /** The test that an exchange belongs to. */
    of({ scope }: Pick<Exchange, 'scope'>): TestPrompts {
      const running = currentTest()
      const name = scope || running?.name || ''
      const entry = running && name ? `${running.file} > ${name}` : name
      const known = underWay.find(one => one.entry === entry && one.scope === scope)
      if (known) return known
      const who = scope === '' ? entry || 'The run' : `scope "${scope}"`
      const sent = { calls: 0, promptTokens: 0, largest: undefined }
      const added: TestPrompts = { scope, who, entry, sent, uses: new Map(), isPartial: false }
      underWay = [...underWay, added]
      return added
    },
    /** Ends the tests of a scope, or all if none is given, and returns them. A repeated test replaces its entry. */
    end(scope?: string): readonly TestPrompts[] {
      const ending = underWay.filter(test => scope === undefined || test.scope === scope)
      for (const { entry, uses, isPartial } of ending) {
        if (entry === '') isAboutRecordings ||= uses.size > 0
        else if (isPartial) entries.delete(entry)
        else if (uses.size > 0) entries.set(entry, uses)
      }
      underWay = underWay.filter(test => !ending.includes(test))
      return ending
    },
    /** The entries of tests that have ended, and whether there were requests of no test. */
    ended: () => ({ entries, isAboutRecordings }),
  }
}
