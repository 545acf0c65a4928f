/** Ids that only link the messages of one request, which platforms choose at random: they count by position. */
import { isObject } from '../core/json.js'

type Item = Readonly<Record<string, unknown>>

/** The numbers of the calls in a request, by id. */
type Links = ReturnType<typeof createLinks>

/**
 * Returns a body in which each tool call has its number in place of its id, and each result the number of its call. Knows
 * the lists of chat completions and of Anthropic (`messages`), and of OpenAI's responses (`input`).
 */
export function linksByPosition(body: unknown): unknown {
  if (!isObject(body)) return body
  const links = createLinks()
  const changed = (name: string, change: (item: Item, links: Links) => Item) =>
    Array.isArray(body[name]) ? { [name]: eachItem(body[name], item => change(item, links)) } : {}
  return { ...body, ...changed('messages', messageByPosition), ...changed('input', itemByPosition) }
}

function createLinks() {
  const numbers = new Map<unknown, number>()
  let count = 0
  /** A repeated id is that of another call: some platforms number the calls of each turn. */
  function call(id: unknown): unknown {
    if (typeof id !== 'string') return id
    numbers.set(id, ++count)
    return count
  }
  return {
    call,
    /** The number of the latest call with this id. */
    result: (id: unknown) => numbers.get(id) ?? call(id),
    /** An id that nothing in the request has is one that the platform knows, and is not changed. */
    reference: (id: unknown) => numbers.get(id) ?? id,
  }
}

function messageByPosition(message: Item, { call, result }: Links): Item {
  const { tool_calls: calls, content } = message
  return {
    ...message,
    ...(Array.isArray(calls) && { tool_calls: eachItem(calls, one => withField(one, 'id', call)) }),
    ...('tool_call_id' in message && { tool_call_id: result(message.tool_call_id) }),
    ...(Array.isArray(content) && {
      content: eachItem(content, part => {
        if (part.type === 'tool_use') return withField(part, 'id', call)
        return part.type === 'tool_result' ? withField(part, 'tool_use_id', result) : part
      }),
    }),
  }
}

function itemByPosition(item: Item, { call, reference }: Links): Item {
  const type = String(item.type)
  if (type === 'item_reference') return withField(item, 'id', reference)
  if (!/(?:^message|^reasoning|_call|_output)$/.test(type)) return item
  return withField(withField(item, 'id', call), 'call_id', type.endsWith('_output') ? reference : call)
}

const withField = (item: Item, name: string, change: (value: unknown) => unknown): Item =>
  Object.hasOwn(item, name) ? { ...item, [name]: change(item[name]) } : item

const eachItem = (list: readonly unknown[], change: (item: Item) => Item) =>
  list.map(item => (isObject(item) ? change(item) : item))
