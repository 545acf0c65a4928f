/** A changed prompt as it is shown, and a recorded request with what changed in the asked one. */
import { isDeepStrictEqual } from 'node:util'
import type { Tokenizer } from '../chat/tokens/index.js'
import { changedParts, type Difference } from '../check/finding.js'
import { isObject, jsonOf } from '../core/json.js'
import { withSortedKeys } from './canonical.js'
import { isConversation, nameOfMessages } from './conversation.js'
import { alignedItems, labelOf } from './differences.js'
import type { Ignore } from './ignore.js'
import { requestKey } from './key.js'
import type { RecordedRequest } from './recording.js'

interface JsonObject {
  readonly [name: string]: unknown
}

const fieldsOf = ({ body }: RecordedRequest): JsonObject =>
  body.kind === 'json' && isObject(body.value) ? (body.value as JsonObject) : {}

/** The names of the tools that a request offers. */
export const toolsOf = (request: RecordedRequest): readonly string[] =>
  [fieldsOf(request).tools, fieldsOf(request).functions].flatMap(list => (Array.isArray(list) ? list.map(labelOf) : []))

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
  const [before, after] = [fieldsOf(recorded), fieldsOf(asked)]
  const name = nameOfMessages(before)
  if (!name || nameOfMessages(after) !== name) return asked
  const requestWith = (value: unknown): RecordedRequest => ({
    ...recorded,
    body: { kind: 'json', value: withSortedKeys(value) },
  })
  const { stream: _stream, stream_options: _options, ...others } = after
  const format = Object.entries(before).filter(([name]) => name === 'stream' || name === 'stream_options')
  const wanted: JsonObject = { ...others, ...Object.fromEntries(format) }
  const key = requestKey(requestWith(wanted), ignore)
  const isSame = (value: unknown) => requestKey(requestWith(value), ignore) === key
  // As a whole, since the ids in it refer to one another.
  const [said, saidNow] = [before, after].map(fields => fields[name] as readonly unknown[])
  const spoken = (said ?? []).filter(isConversation)[Symbol.iterator]()
  const messages = (saidNow ?? []).map(message => (isConversation(message) ? spoken.next().value : message))
  const start = isSame({ ...wanted, [name]: messages }) ? { ...wanted, [name]: messages } : wanted
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
