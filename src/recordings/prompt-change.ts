/** Chat requests with the same conversation as a recorded one: what else differs, and the recorded one with these changes. */
import { isDeepStrictEqual } from 'node:util'
import type { Tokenizer } from '../chat/tokens/index.js'
import { changedParts, type Difference } from '../check/finding.js'
import { isObject, jsonOf, stringifyExact } from '../core/json.js'
import { type Ignore, withSortedKeys } from './canonical.js'
import { addLeaves, differing, leavesOf } from './differences.js'
import { requestKey } from './key.js'
import type { RecordedRequest } from './recording.js'

interface JsonObject {
  readonly [name: string]: unknown
}

/** The messages that tell the model how to answer. All others are the conversation. */
const isInstruction = (message: unknown) =>
  isObject(message) && (message.role === 'system' || message.role === 'developer')

const isConversation = (message: unknown) => !isInstruction(message)

interface ChatBody extends JsonObject {
  readonly messages: readonly unknown[]
}

/** The body of a chat request, whatever its path; `undefined` for anything else. */
const chatBodyOf = ({ body }: RecordedRequest) =>
  body.kind === 'json' && isObject(body.value) && Array.isArray(body.value.messages)
    ? (body.value as ChatBody)
    : undefined

/** Lists in which items are compared with those of the same role or name, wherever they are. */
const lists = ['messages', 'tools', 'functions'] as const

/**
 * Returns what differs between two requests in their compared form, if they are chats with the same conversation.
 * `undefined` if they are not.
 */
export function promptDifferences(
  recorded: RecordedRequest,
  asked: RecordedRequest,
): readonly Difference[] | undefined {
  const [before, after] = [chatBodyOf(recorded), chatBodyOf(asked)]
  if (!before || !after) return undefined
  const isSame = (['method', 'path', 'query'] as const).every(part => recorded[part] === asked[part])
  const [spoken, spokenNow] = [before, after].map(({ messages }) => messages.filter(isConversation))
  if (!isSame || !isDeepStrictEqual(spoken, spokenNow)) return undefined
  const fields = { recorded: new Map<string, string>(), asked: new Map<string, string>() }
  for (const name of lists) for (const pair of alignedItems(before[name], after[name])) addPair(name, pair, fields)
  addParameters(before, fields.recorded)
  addParameters(after, fields.asked)
  const differences = differing(fields.asked, fields.recorded)
  // Nothing differs one by one if instructions have only moved.
  return differences.length > 0 ? differences : differing(leavesOf(asked), leavesOf(recorded))
}

function addParameters(body: JsonObject, fields: Map<string, string>): void {
  for (const [name, value] of Object.entries(body))
    if (!lists.some(list => list === name)) addLeaves(value, fields, name)
}

interface Item {
  readonly index: number
  readonly value: unknown
}

/** What an item was, and what it became; one of them is missing if it was added or removed. */
interface ItemPair {
  readonly recorded?: Item | undefined
  readonly asked?: Item | undefined
}

const itemsIn = (list: unknown): readonly Item[] =>
  Array.isArray(list) ? list.map((value, index) => ({ index, value })) : []

/** The role of a message, or the name of a tool. */
function labelOf(item: unknown): string {
  if (!isObject(item)) return ''
  const { name } = isObject(item.function) ? item.function : item
  return String(item.role ?? name ?? '')
}

/** The names of the tools that a chat request offers. */
export const toolsOf = (request: RecordedRequest): readonly string[] =>
  [chatBodyOf(request)?.tools, chatBodyOf(request)?.functions].flatMap(itemsIn).map(({ value }) => labelOf(value))

/** Finds what became of each item: equal ones first, then those of the same role or name, then the rest in order. */
function alignedItems(recorded: unknown, asked: unknown): readonly ItemPair[] {
  const left = new Set(itemsIn(recorded))
  const partners = new Map<Item, Item>()
  const tests: readonly ((one: unknown, other: unknown) => boolean)[] = [
    isDeepStrictEqual,
    (one, other) => labelOf(one) === labelOf(other),
    (one, other) => isConversation(one) === isConversation(other),
  ]
  const all = itemsIn(asked)
  for (const isPair of tests) {
    for (const item of all) {
      const partner = partners.has(item) ? undefined : [...left].find(({ value }) => isPair(value, item.value))
      if (!partner) continue
      partners.set(item, partner)
      left.delete(partner)
    }
  }
  return [...all.map(asked => ({ asked, recorded: partners.get(asked) })), ...[...left].map(recorded => ({ recorded }))]
}

/** Adds the leaves of both items under one name; of an item that only one side has, the whole. */
function addPair(
  list: string,
  { recorded, asked }: ItemPair,
  fields: Record<keyof ItemPair, Map<string, string>>,
): void {
  const { index, value } = asked ?? recorded ?? { index: 0, value: null }
  const name = `${list}[${index}]`
  if (recorded && asked) {
    addLeaves(recorded.value, fields.recorded, name)
    addLeaves(asked.value, fields.asked, name)
    return
  }
  const content = isObject(value) && typeof value.content === 'string' ? value.content : value
  fields[asked ? 'asked' : 'recorded'].set(`${name} (${labelOf(value)})`, stringifyExact(content))
}

/** How much of a value is shown around and in what changed. */
const SHOWN_LENGTH = 200

/** Parts of a request that the model reads. */
const isRead = /^(?:messages|tools|functions|response_format)\b/

/** The difference as it is shown: the part that changed, and how many tokens it adds to the prompt, which takes time for long texts. */
export function shownChange({ field, recorded, asked }: Difference, tokenizer?: Tokenizer): Difference {
  const [recordedText, askedText] = changedParts(recorded ?? '', asked ?? '', SHOWN_LENGTH)
  const tokens = tokenizer && isRead.test(field) ? tokensIn(asked, tokenizer) - tokensIn(recorded, tokenizer) : 0
  return {
    field,
    recorded: recorded && recordedText,
    asked: asked && askedText,
    ...(tokens !== 0 && { tokens }),
  }
}

function tokensIn(json: string | undefined, tokenizer: Tokenizer): number {
  if (json === undefined) return 0
  const value = jsonOf(json)
  return tokenizer.count(typeof value === 'string' ? value : json)
}

/**
 * The recorded request with what changed in the asked one. What comparison ignores stays as it was recorded, and so does
 * the format of the answer.
 */
export function withChanges(recorded: RecordedRequest, asked: RecordedRequest, ignore: Ignore): RecordedRequest {
  const [before, after] = [chatBodyOf(recorded), chatBodyOf(asked)]
  if (!before || !after) return asked
  const requestWith = (value: unknown): RecordedRequest => ({
    ...recorded,
    body: { kind: 'json', value: withSortedKeys(value) },
  })
  const { stream: _stream, stream_options: _options, ...others } = after
  const format = Object.entries(before).filter(([name]) => name === 'stream' || name === 'stream_options')
  const wanted = { ...others, ...Object.fromEntries(format) }
  const key = requestKey(requestWith(wanted), ignore)
  const isSame = (value: unknown) => requestKey(requestWith(value), ignore) === key
  // As a whole, since the ids in it refer to one another.
  const spoken = before.messages.filter(isConversation)[Symbol.iterator]()
  const messages = after.messages.map(message => (isConversation(message) ? spoken.next().value : message))
  const start = isSame({ ...wanted, messages }) ? { ...wanted, messages } : wanted
  return requestWith(kept(before, start, isSame))
}

/** Takes from `recorded` each part that `isSame` allows, and the rest from `asked`. */
function kept(recorded: unknown, asked: unknown, isSame: (candidate: unknown) => boolean): unknown {
  if (isDeepStrictEqual(recorded, asked) || isSame(recorded)) return recorded
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    let items: readonly unknown[] = asked
    for (const pair of alignedItems(recorded, asked)) {
      if (!pair.asked || !pair.recorded) continue
      const { index } = pair.asked
      items = items.with(
        index,
        kept(pair.recorded.value, items[index], item => isSame(items.with(index, item))),
      )
    }
    return items
  }
  if (!isObject(recorded) || !isObject(asked)) return asked
  let fields: JsonObject = asked as JsonObject
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(asked)])) {
    const { [name]: value, ...others } = fields
    if (!(name in recorded)) fields = isSame(others) ? others : fields
    else if (name in asked) {
      fields = { ...fields, [name]: kept(recorded[name], value, part => isSame({ ...others, [name]: part })) }
    } else if (isSame({ ...others, [name]: recorded[name] })) fields = { ...others, [name]: recorded[name] }
  }
  return fields
}
