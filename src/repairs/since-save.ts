/** What the last save of rules or configuration has changed: earlier requests are answered again, by the old rules and by the new ones. */
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { chatIn } from '../chat/request.js'
import { uptimeMs } from '../core/clock.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonOf, stringifyExact } from '../core/json.js'
import { type AnsweredBy, sourceInWords } from '../core/reply.js'
import type { Journal } from '../journal/index.js'
import { type Redact, redactionOf } from '../redact/index.js'
import {
  createMemory,
  createReplies,
  type Explanation,
  linesOf,
  type ReadyRule,
  type Replies,
  type RulesAtRunTime,
  sentCall,
} from '../replies/index.js'
import type { ChangedAnswers, SavedFiles } from './operations.js'

/** What answers follow from. */
export interface AnsweringConfig {
  readonly rules: readonly ReadyRule[]
  readonly loaded: {
    readonly config: { readonly seed: number; readonly strict: boolean }
    readonly file: string | undefined
  }
}

interface Parts {
  readonly journal: Journal
  readonly atRunTime: RulesAtRunTime
  readonly redact: () => Redact
}

interface Save extends SavedFiles {
  readonly lastId: number
  readonly before: AnsweringConfig
  readonly after: AnsweringConfig
}

/** Answering again is for looking at, so it may not take long. */
const MOST_MS = 2000
/** The difference has to be read. */
const SHOWN = 2000

type Changed = ChangedAnswers['data'][number]

export class SinceSave {
  private save: Save | undefined
  private compared: Promise<ReadonlyMap<string, Changed | undefined>> | undefined

  constructor(private readonly parts: Parts) {}

  /** Notes that a configuration takes the place of another. A file that was written as it was changes nothing. */
  note(before: AnsweringConfig, after: AnsweringConfig): void {
    const files = changedFiles(before, after)
    if (files.length === 0) return
    const lastId = Number(this.parts.journal.lastId())
    this.save = { files, at: new Date().toISOString(), lastId, before, after }
    this.compared = undefined
  }

  /** What was saved last; `undefined` before the first save. */
  last(): SavedFiles | undefined {
    return this.save && { files: this.save.files, at: this.save.at }
  }

  /** Counts nothing, journals nothing, and is done once for each save. */
  async changed(): Promise<ChangedAnswers> {
    const { save, parts } = this
    if (!save) return { files: [], at: null, requests: 0, data: [] }
    this.compared ??= compare(save, parts)
    // What was cleared meanwhile is not shown.
    const kept = [...(await this.compared)].filter(([id]) => parts.journal.find(id))
    const data = kept.flatMap(([, changed]) => changed ?? []).toReversed()
    return { files: save.files, at: save.at, requests: kept.length, data }
  }
}

const textOf = (rules: readonly ReadyRule[]) => stringifyExact(rules.map(({ written }) => written))

/** The files of rules that differ, and that of the configuration. */
function changedFiles(before: AnsweringConfig, after: AnsweringConfig): readonly string[] {
  const was = byFile(before)
  const is = byFile(after)
  const files = [...new Set([...was.keys(), ...is.keys()])]
  const differing = files.filter(file => textOf(was.get(file) ?? []) !== textOf(is.get(file) ?? []))
  const isOtherConfig = !isDeepStrictEqual(before.loaded.config, after.loaded.config)
  const config = path.basename(after.loaded.file ?? 'the configuration')
  return [...new Set([...(isOtherConfig ? [config] : []), ...differing.map(file => file ?? config)])]
}

const byFile = ({ rules }: AnsweringConfig): Map<string | undefined, readonly ReadyRule[]> =>
  Map.groupBy(rules, ({ file }) => file)

/** What was compared, the oldest first; a value where the answers differ. */
async function compare({ before, after, lastId }: Save, { journal, atRunTime, redact }: Parts) {
  const compared = new Map<string, Changed | undefined>()
  const old = answering(before, atRunTime)
  const now = answering(after, atRunTime)
  const untilMs = uptimeMs() + MOST_MS
  for (const found of journal.last({ before: String(lastId + 1) }).toReversed()) {
    const { exchange } = found
    if (uptimeMs() > untilMs) break
    await nextTurn()
    if (!isOurs(exchange)) continue
    const [one, other] = [await old(exchange), await now(exchange)]
    if (!one && !other) continue
    const isSame = one?.key === other?.key || one?.says === other?.says
    const hide = (answer: Answer | undefined) => {
      const { by, says } = answer ?? { by: 'nothing', says: '' }
      const { text } = redactionOf(exchange, redact())
      return { by: text(by), says: text(says).slice(0, SHOWN) }
    }
    const { id, prompt, call, path, method } = journal.brief(found)
    const title = prompt ?? call ?? `${method} ${path}`
    compared.set(id, isSame ? undefined : { id, title, before: hide(one), after: hide(other) })
  }
  return compared
}

/** Whether rules have answered it, or could have. Who was refused before is refused still. */
function isOurs({ mode, outcome }: Exchange): boolean {
  if (mode !== 'emulate' || !outcome) return false
  return outcome.answeredBy !== undefined || [404, 405, 424].includes(outcome.status)
}

interface Answer {
  readonly by: string
  readonly says: string
  /** The same for the same reply of the same rule, whose words may depend on the time. */
  readonly key: string | object
}

type Answering = (exchange: Exchange) => Promise<Answer | undefined>

/** Answers as a platform with this configuration, and with a memory of its own. */
function answering({ rules, loaded: { config } }: AnsweringConfig, atRunTime: RulesAtRunTime): Answering {
  const { seed, strict } = config
  const replies = createReplies({ rules, seed, strict, memory: createMemory(), atRunTime })
  return async exchange => {
    try {
      return await answerOf(exchange, replies, seed)
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      return { by: 'an error', says: `${error.status} ${error.message}`, key: {} }
    }
  }
}

async function answerOf(exchange: Exchange, replies: Replies, seed: number): Promise<Answer | undefined> {
  const inWords = <T extends { readonly answeredBy: AnsweredBy }>(
    { rule }: Pick<Explanation<T>, 'rule'>,
    generation: T,
    lines: readonly string[],
  ): Answer => {
    const { answeredBy } = generation
    const place = answeredBy.kind === 'rule' ? (answeredBy.reply ?? 1) : 0
    const key = rule ? `${place} ${seed} ${stringifyExact(rule.written)}` : {}
    return { by: sourceInWords(answeredBy), says: lines.join('\n'), key }
  }
  if (exchange.endpoint?.callsModel) {
    const request = chatIn(exchange)
    const explanation = replies.explain(request, exchange)
    const generation = await replies.answer(request, exchange)
    return inWords(explanation, generation, linesOf(generation))
  }
  const { path: server, headers, caller, scope, body } = exchange
  const call = body && sentCall(jsonOf(body))
  if (call) {
    const { explain, linesOf } = await replies.mcp()
    const explanation = explain({ ...call, server, headers, caller, scope })
    const generation = await explanation.reply()
    return inWords(explanation, generation, linesOf(generation))
  }
  const { http } = replies
  if (!http || http.at(exchange.path, scope).length === 0) return undefined
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const explanation = await http.explain({ ...exchange, headers: Object.fromEntries(sent), body: body?.toString() })
  const generation = (await http.answer(exchange)) ?? (await explanation.reply())
  return inWords(explanation, generation, http.linesOf(generation))
}
