/** Repairs of what an exchange got. They are computed from the whole request, which only the server has. */
import { blockYaml } from '../check/yaml.js'
import { noSuchExchange, refusal } from '../core/errors.js'
import type { Exchange, Mode } from '../core/exchange.js'
import { ignorableOf, type Journal, keyFor } from '../journal/index.js'
import type { IgnoreOption } from '../recordings/index.js'
import { type Redact, redactionOf } from '../redact/index.js'
import {
  type Answerable,
  answerable,
  before,
  type DraftSource,
  type RuleInput,
  requestTest,
  ruleByHand,
  shownMessage,
} from '../replies/index.js'
import type { RepairsInUse } from './in-use.js'
import type { RepairOffer, RepairResult, RepairWish } from './operations.js'

export { type AnswerByHand, type RepairInUse, RepairsInUse } from './in-use.js'
export { type AnsweringConfig, SinceSave } from './since-save.js'

interface Parts {
  readonly inUse: RepairsInUse
  /** Its exchanges have the whole request, also what is never shown. */
  readonly journal: Pick<Journal, 'find' | 'get' | 'brief' | 'last' | 'lastId'>
  readonly sendAgain: (id: string, again: { readonly began: (mark: string) => () => void }) => Promise<string>
  readonly rules: {
    addSent(rule: RuleInput, scope?: string): Promise<readonly { readonly id: string }[]>
    remove(which: { readonly id: string }): number
    /** Why a rule that was added does not answer an exchange after all; `undefined` if it does. */
    whyNot(id: string, exchange: Exchange): Promise<string | undefined>
  }
  readonly isMcp: (path: string) => boolean
  /** With the caller of its credential, also where nobody asked for that because the path was unknown. */
  readonly identified: (exchange: Exchange) => Promise<Exchange>
  readonly modeOf: (exchange: Exchange) => Mode
  /** Why the live platform cannot be asked; `undefined` if it can. */
  readonly whyNotRecord: () => readonly string[] | undefined
  /** The key under which recordings of a request are found, also with more that is ignored. */
  readonly keyOf: (exchange: Exchange, ignore?: readonly IgnoreOption[]) => Promise<string>
  /** Whether a recording is on disk, once everything is written. */
  readonly isSaved: (file: string) => Promise<boolean>
  readonly redact: () => Redact
  readonly credentials: () => Promise<{ readonly apiKey: string; readonly anonKey: string }>
}

/** An offer. What it applies to takes a look at many requests, and is for whoever reads the offers. */
interface Offer extends Omit<RepairOffer, 'applies'> {
  readonly applies: () => Promise<string | null>
}

export class Repairs {
  constructor(private readonly parts: Parts) {}

  /** What can be done, in the order of how often it is what one wants. Throws a 404 for an unknown exchange. */
  async offers(id: string): Promise<readonly RepairOffer[]> {
    const { exchange } = this.find(id)
    const offers = (await this.offersFor(id, exchange)).map(async ({ applies, ...offer }): Promise<RepairOffer> => {
      return { ...offer, applies: await applies() }
    })
    return this.shown(exchange, await Promise.all(offers))
  }

  private async offersFor(id: string, exchange: Exchange): Promise<readonly Offer[]> {
    const { outcome, nearest } = exchange
    const key = keyFor(exchange)
    const isMiss = outcome?.code === 'no_recording'
    const ignorable = isMiss && nearest ? ignorableOf(nearest) : undefined
    const offers: (Offer | undefined)[] = [
      key && { ...plain, id: 'key', says: `Copy ${key === 'apiKey' ? 'an API key' : 'the anon key'} that works here` },
      isMiss ? { ...plain, id: 'record', says: 'Record now', refused: this.whyNotRecord(exchange) } : undefined,
      isMiss && nearest
        ? {
            ...plain,
            id: 'nearest',
            says: `Answer it with ${nearest.file}`,
            applies: async () => 'this request, and no other',
          }
        : undefined,
      ignorable && {
        ...plain,
        id: 'ignore',
        says: `Ignore ${ignorable.says}`,
        applies: () => this.sharing(exchange, ignorable.entries),
      },
      ...(await this.answerOffers(id, exchange)),
    ]
    return offers.filter(offer => offer !== undefined)
  }

  /** Throws a 409 for what is not possible. Only a copied key is shown as it is. */
  async repair(id: string, wish: RepairWish): Promise<RepairResult> {
    const { exchange } = this.find(id)
    const result = await this.doneFor(id, exchange, wish)
    return 'key' in result ? result : this.shown(exchange, result)
  }

  private async doneFor(id: string, exchange: Exchange, wish: RepairWish): Promise<RepairResult> {
    const offered = (await this.offersFor(id, exchange)).find(offer => offer.id === wish.id)
    if (!offered) throw refusal(409, 'no_such_repair', `This is not possible for exchange ${id}: ${wish.id}.`)
    if (offered.refused !== null) return { failed: offered.refused, exchange: null }
    switch (wish.id) {
      case 'key': {
        const { [keyFor(exchange) ?? 'apiKey']: key } = await this.parts.credentials()
        return key === ''
          ? { failed: 'There is no such key here: none of the configured ones is valid.', exchange: null }
          : { did: 'Send this key.', exchange: null, undo: null, key }
      }
      case 'record':
        return this.recordNow(id)
      case 'nearest': {
        const file = exchange.nearest?.file ?? ''
        const undo = this.parts.inUse.add(
          { key: await this.parts.keyOf(exchange), file },
          `${file} answers ${this.titleOf(id)}`,
        )
        return { did: `From now on ${file} answers this request.`, exchange: null, undo }
      }
      case 'ignore':
        return this.ignore(exchange)
      case 'answer':
      case 'answer-message':
        return this.answer(id, exchange, wish)
    }
  }

  /** What is computed from the whole request, without its secrets. */
  private shown<T>(exchange: Exchange, found: T): T {
    return redactionOf(exchange, this.parts.redact()).value(found) as T
  }

  private find(id: string) {
    const kept = this.parts.journal.find(id)
    if (!kept) throw noSuchExchange(id, this.parts.journal.lastId())
    return kept
  }

  /** The exchange as it is shown: whole, and without secrets. */
  private source(id: string): DraftSource {
    return this.parts.journal.get(id, Number.POSITIVE_INFINITY) as DraftSource
  }

  /** The request in words, without secrets. */
  private titleOf(id: string): string {
    const { prompt, call, path } = this.parts.journal.brief(this.find(id))
    return prompt ?? call ?? path
  }

  // Answers by hand.

  private async answerOffers(id: string, exchange: Exchange): Promise<readonly Offer[]> {
    const target = await this.target(exchange)
    const says = 'Answer it by hand'
    if (typeof target === 'string') return [{ ...plain, id: 'answer', says, refused: target }]
    const { forms, tools, same, user } = target
    const answer = { forms, tools, before: this.before(id, target) }
    const offer = {
      ...plain,
      id: 'answer',
      says,
      applies: async () => `${same}: ${await this.counted(target, { fingerprint: target.fingerprint })}`,
      answer,
    } as const
    if (user === undefined || (exchange.chat?.messages.length ?? 2) < 2) return [offer]
    const applies = async () =>
      `every chat whose last message says the same: ${await this.counted(target, { user: { exact: user } })}`
    // The rule would show the secret.
    if (shownMessage(this.source(id)) !== user) return [offer]
    return [offer, { ...offer, id: 'answer-message', says: 'Answer this message, whatever came before', applies }]
  }

  private async target(exchange: Exchange): Promise<Answerable | string> {
    const mode = this.parts.modeOf(exchange)
    const target = await answerable(await this.parts.identified(exchange), this.parts.isMcp)
    if (typeof target === 'string' || mode === 'emulate' || !this.parts.isMcp(exchange.path)) return target
    return `In mode ${mode}, rules do not answer calls of MCP. Switch the mode to emulate, and send it again.`
  }

  /** What was answered, as the beginning of a better answer. */
  private before(id: string, { forms }: Answerable) {
    const found = before(this.source(id))
    return found && forms.includes(found.as) ? found : { as: forms[0] ?? 'text', says: '', tool: '' }
  }

  private async counted(target: Answerable, when: object): Promise<string> {
    const test = requestTest({ on: target.on, when }, 'repair')
    const all = this.last()
    const matching = await Promise.all(all.map(async one => (await test(one))?.length === 0))
    return `${matching.filter(Boolean).length} of the last ${all.length}`
  }

  private async answer(id: string, exchange: Exchange, wish: RepairWish): Promise<RepairResult> {
    const target = await this.target(exchange)
    if (typeof target === 'string') return { failed: target, exchange: null }
    const { rules, inUse } = this.parts
    const { as = 'text', says = '', tool } = wish
    const title = this.titleOf(id)
    const user = wish.id === 'answer-message' ? target.user : undefined
    const rule = ruleByHand(target, { as, says, tool }, title, user)
    const scope = exchange.scope === '' ? undefined : exchange.scope
    const [added] = await rules.addSent(rule, scope)
    const ruleId = added?.id ?? ''
    const why = await rules.whyNot(ruleId, exchange)
    if (why !== undefined) {
      rules.remove({ id: ruleId })
      return { failed: why, exchange: null }
    }
    const to = JSON.stringify([scope, target.on, (rule as { readonly when?: object }).when])
    const replaced = inUse.noteAnswer({ rule: ruleId, to, says: `answers ${title} by hand` })
    if (replaced !== undefined) rules.remove({ id: replaced })
    const did =
      replaced === undefined
        ? 'It answers from the next request on.'
        : 'It answers from the next request on, in place of the answer before.'
    const { priority: _first, ...kept } = rule
    return { did, exchange: null, undo: ruleId, yaml: blockYaml([kept]) }
  }

  // Misses.

  private whyNotRecord(exchange: Exchange): string | null {
    if (exchange.bodyCutFromBytes !== undefined)
      return 'Only the beginning of its body was kept, so it cannot be sent again.'
    return this.parts.whyNotRecord()?.join(' ') ?? null
  }

  /** Asks the live platform once, and says what came back. */
  private async recordNow(id: string): Promise<RepairResult> {
    const { sendAgain, inUse, isSaved } = this.parts
    let again: string
    try {
      again = await sendAgain(id, { began: mark => inUse.record(mark) })
    } catch (error) {
      return { failed: `It could not be sent again: ${(error as Error).message}`, exchange: null }
    }
    const { exchange } = this.find(again)
    const { status = 0, error, answeredBy, complete } = exchange.outcome ?? {}
    const fail = (failed: string) => ({ failed, exchange: again })
    if (answeredBy?.kind !== 'live')
      return fail(`Nothing was recorded: ${error ?? 'the live platform gave no answer.'}`)
    if (!complete) return fail('Nothing was recorded: the answer of the live platform broke off.')
    const file = answeredBy.recordedAs
    const words = this.inWords(again)
    if (file === undefined || !(await isSaved(file)))
      return fail(`Nothing was recorded. The live platform answered with ${words}.`)
    if (status >= 400) return fail(`The live platform refused it, and that was recorded: ${words}.`)
    return { did: `Recorded. From now on the recording answers: ${words}.`, exchange: again, undo: null }
  }

  /** `200, 58 tokens`, `401: The API key is not known.` */
  private inWords(id: string): string {
    const { status, error, said, tokens } = this.parts.journal.brief(this.find(id))
    if (error !== null) return `${status}: ${error}`
    const parts = [
      status,
      tokens && `${tokens.prompt + tokens.completion} tokens`,
      said && JSON.stringify(said.slice(0, 60)),
    ]
    return parts.filter(Boolean).join(', ')
  }

  private async ignore(exchange: Exchange): Promise<RepairResult> {
    const { inUse, keyOf } = this.parts
    const ignorable = exchange.nearest && ignorableOf(exchange.nearest)
    if (!ignorable) return { failed: 'What differs is what was said, which decides the answer.', exchange: null }
    const { entries, says } = ignorable
    const applies = await this.sharing(exchange, entries)
    const undo = inUse.add({ ignore: entries }, `${says} is ignored`)
    await keyOf(exchange)
    return {
      did: `From now on ${says} is ignored: ${applies}.`,
      exchange: null,
      undo,
      yaml: blockYaml({ recordings: { ignore: entries } }),
    }
  }

  /** How many of the last requests would have shared a recording, although they differ. */
  private async sharing(exchange: Exchange, ignore: readonly IgnoreOption[]): Promise<string> {
    const { keyOf } = this.parts
    const all = this.last().filter(one => one.path === exchange.path && one.method === exchange.method)
    const keys = await Promise.all(all.map(async one => [await keyOf(one), await keyOf(one, ignore)] as const))
    const byShared = Map.groupBy(new Map(keys), ([, shared]) => shared)
    const own = [...byShared.values()].filter(one => one.length > 1)
    const differing = own.reduce((sum, one) => sum + one.length, 0)
    const what = `of the last ${all.length} requests to ${exchange.path}`
    if (differing === 0) return `no other ${what} would have shared a recording`
    return `${differing} different ones ${what} would have shared ${own.length === 1 ? 'a recording' : `${own.length} recordings`}`
  }

  /** The last requests, the newest first. */
  private last(): readonly Exchange[] {
    return this.parts.journal.last().map(({ exchange }) => exchange)
  }
}

const plain = { applies: async () => null, refused: null }
