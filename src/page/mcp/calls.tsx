/** The last calls of a tool by any client, from the journal. */
import { routes } from '../../dashboard/routes.js'
import type { JournalEntry } from '../../journal/operations.js'
import { control } from '../api.js'
import { ShortCode } from '../widgets/code-block.jsx'
import { Link } from '../widgets/link.jsx'
import { List } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Section } from '../widgets/view.jsx'
import { responseIn } from './client.js'

type ToolCall = ReturnType<typeof callIn>[number]

/** How many requests are searched, and how many calls are shown. */
const SEARCHED = 200
const SHOWN = 20

export function useCalls(path: string, tool: string) {
  const load = async (signal: AbortSignal) => {
    const body = { method: 'POST', path, text: 'tools/call', limit: SEARCHED }
    const { data } = await control('POST /journal/find', { body, signal })
    const calls = data.flatMap(entry => callIn(entry, tool))
    return { data: calls.reverse().slice(0, SHOWN) }
  }
  return useResource(load, [path, tool], EVERY_MS)
}

function callIn({ id, at, request, response, error }: JournalEntry, tool: string) {
  const { method, params } = (request.body ?? {}) as Partial<Record<string, Record<string, unknown> | string>>
  if (method !== 'tools/call' || typeof params !== 'object' || params.name !== tool) return []
  return [{ id, at, given: JSON.stringify(params.arguments ?? {}), outcome: error ?? outcomeIn(response.body) }]
}

/** The outcome of a call: its error, its structured result, or else its content. */
function outcomeIn(body: unknown): string {
  const frame = responseIn(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
  if (!frame) return 'No result'
  if ('error' in frame) return frame.error.message
  const { structuredContent, content } = frame.result
  return JSON.stringify(structuredContent ?? content ?? frame.result)
}

const columns: readonly Column<ToolCall>[] = [
  {
    name: 'Called',
    width: '18%',
    of: ({ id, at }) => (
      <Link to={`${routes.requests}?id=${id}`}>
        <Moment at={at} isReal />
      </Link>
    ),
  },
  { name: 'Arguments', of: ({ given }) => <ShortCode text={given} /> },
  { name: 'Result', of: ({ outcome }) => <ShortCode text={outcome} /> },
]

export const LastCalls = ({ of }: { readonly of: ReturnType<typeof useCalls> }) => (
  <Section title="Last calls">
    <List of={of} what="call" empty={<Empty title="No calls yet">Calls from any client appear here.</Empty>}>
      {calls => <Table caption="Last calls" columns={columns} rows={calls} keyOf={({ id }) => id} />}
    </List>
  </Section>
)
