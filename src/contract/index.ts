/** The contract as tests for any runner: vitest, jest, node:test. Exported as `standin/contract`. */
import '../check/require-node.js'
import { once } from 'node:events'
import http, { type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BrokenVerdict, type Clause, type ClauseVerdict, createJudge, type Judge, wantedOf } from './clause.js'
import { clauses } from './clauses.js'
import { sections } from './document.js'
import { createTarget, type TargetOptions } from './target.js'

export type { BrokenVerdict, Clause, ClauseVerdict, SkippedVerdict } from './clause.js'
export { type ClauseResult, judgeAll, wantedOf } from './clause.js'
export { clauses } from './clauses.js'
export { type Section, sections, silent, type UncheckedStatement } from './document.js'
export type {
  Call,
  CallResult,
  ReceivedAnswer,
  Send,
  ShownCall,
  Target,
  TargetCredentials,
  TargetOptions,
} from './target.js'
export { createTarget } from './target.js'

/** What is checked: a server with a URL, or a handler, for which a server is started. */
export type SuiteTarget = TargetOptions | (Omit<TargetOptions, 'url'> & { readonly handler: TargetHandler })

export interface SuiteOptions {
  /** A function is called when the first test runs, so what it needs must have started by then. */
  readonly target: SuiteTarget | (() => SuiteTarget | Promise<SuiteTarget>)
  /** Ids, sections, `documented` or `decided`, with `*`: `'AUTH-*,HEALTH-1'`. */
  readonly only?: string
  /** Whether Standin's own decisions must hold as well. Off by default. */
  readonly strict?: boolean
}

/** One clause, to be run by a test runner. */
export interface ContractTest {
  /** For example `EP-1 GET /health below the base address answers with status 200.` */
  readonly name: string
  readonly clause: Clause
  /** Returns the verdict. */
  judge(): Promise<ClauseVerdict>
  /**
   * Resolves to `undefined` if the clause holds. Resolves to a sentence if it could not be checked, or if it is a
   * decision that the target does not share and `strict` is off. Rejects with a ContractError if the clause is broken.
   */
  run(): Promise<string | undefined>
}

/** Thrown if a target breaks a clause. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  readonly expected: string
  readonly actual: string

  constructor({ id, what, quotes }: Clause, { expected, came, shown }: BrokenVerdict) {
    super(
      [
        `${id} ${what}`,
        `Expected: ${expected}`,
        `Received: ${came}`,
        ...quotes.map(quote => `The document says: ${quote}`),
        `Request: ${shown.asked}`,
        `Response: ${shown.answered}`,
      ].join('\n'),
    )
    this.expected = expected
    this.actual = came
  }
}

/** Returns the clauses as a list. They share their answers, so that each call is made once. */
export function contractTests({ target, only, strict = false }: SuiteOptions): readonly ContractTest[] {
  const wanted = wantedOf(clauses, only)
  if (wanted.length === 0) throw new RangeError(`No clause matches ${JSON.stringify(only)}.`)
  let opened: Promise<Judge> | undefined
  const judgeOf = () => {
    opened ??= open(target)
    return opened
  }
  return wanted.map(clause => {
    const judge = async () => (await judgeOf())(clause)
    return {
      name: `${clause.id} ${clause.what}`,
      clause,
      judge,
      async run() {
        const verdict = await judge()
        if (verdict.kind === 'skipped') return `Skipped: ${verdict.why}.`
        if (verdict.kind === 'held') return undefined
        if (strict || clause.source === 'documented') throw new ContractError(clause, verdict)
        return `Differs from what Standin does: ${verdict.came}, not ${verdict.expected}.`
      },
    }
  })
}

async function open(target: SuiteOptions['target']): Promise<Judge> {
  const options = typeof target === 'function' ? await target() : target
  const url = 'handler' in options ? await addressOf(options.handler) : options.url
  return createJudge(createTarget({ ...options, url }), clauses)
}

/** What a runner passes to a test. Jest passes nothing. */
interface TestContext {
  skip?(why?: string): unknown
}

type DefineTest = (name: string, run: (context?: TestContext) => Promise<void>) => unknown
type Describe = (name: string, define: () => void) => unknown

/** The `test` and `describe` of the runner: vitest, jest or node:test. */
export interface TestFunctions {
  readonly test: DefineTest
  readonly describe: Describe
}

/**
 * Defines a test for each clause, section by section.
 *
 * ```ts
 * import { contractSuite } from 'standin/contract'
 * import { describe, test } from 'vitest'
 *
 * contractSuite({ target: { url, apiKey, anonKey }, test, describe })
 * ```
 *
 * A test is skipped, with a reason, if its clause could not be checked. Throws a RangeError if no clause matches.
 */
export function contractSuite({ test, describe, ...options }: SuiteOptions & TestFunctions): void {
  const tests = contractTests(options)
  for (const section of sections) {
    const sectionTests = tests.filter(({ clause }) => clause.section === section)
    if (sectionTests.length === 0) continue
    describe(section, () => {
      for (const { name, run } of sectionTests) defineTest(test, name, run)
    })
  }
}

/** The function declares no parameter, because jest would wait for it to call that as `done`. */
const defineTest = (test: DefineTest, name: string, run: ContractTest['run']) =>
  test(name, async (...[context]: [TestContext?]) => {
    const why = await run()
    if (why === undefined) return
    if (context?.skip) return void context.skip(why)
    console.warn(`${name} ${why}`)
  })

/** Express apps are also request listeners. */
export type TargetHandler = Server | RequestListener

/**
 * Returns the URL of the handler. The server does not keep the process alive. One that is already listening is left
 * alone.
 */
export async function addressOf(handler: TargetHandler): Promise<string> {
  const server = handler instanceof Server ? handler : http.createServer(handler)
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.unref()
  }
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
