/** The limits per credential, and what each credential has used. */
import { type CurrentLimits, limitsChange } from '../../config/limit-options.js'
import { control } from '../api.js'
import { FailureNote } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { OptionFields, problemsIn, useApplied } from './options.jsx'
import { type ControlProps, ControlSection, type Controls } from './section.jsx'

export function LimitsSection({ controls, reload }: ControlProps) {
  const { inForce, configured } = controls.limits
  const send = (body: CurrentLimits) => control('PUT /limits', { body })
  const { shown, failure, apply } = useApplied({ inForce, send, reload })
  return (
    <ControlSection
      of="limits"
      lead="Rates are counted per credential. Above the limit: 429 with Retry-After. 0 means no limit."
      restore={() => control('DELETE /limits')}
      {...{ controls, reload }}
    >
      <OptionFields
        entries={limitsChange.entries}
        settings={shown}
        configured={configured}
        problemOf={(name, value) => problemsIn(limitsChange, { ...shown, [name]: value }).get(name)}
        onChange={(name, value) => apply({ ...shown, [name]: value }, 'The limit was changed.')}
      />
      <FailureNote failure={failure} />
      <UsageTable {...controls.limits} />
    </ControlSection>
  )
}

type Limits = Controls['limits']

const kinds: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  user: 'User',
  anon: 'Anon key',
  service: 'Service key',
  stranger: 'Live platform key',
}

function UsageTable({ used, inForce }: Limits) {
  const { requestsPerMinute, tokensPerMinute, concurrentStreams } = inForce
  const isLimited = requestsPerMinute > 0 || tokensPerMinute > 0 || concurrentStreams > 0
  if (!isLimited) return <p class="quiet">Usage is counted when a limit per minute is set.</p>
  if (used.length === 0) return <p class="quiet">No usage this minute.</p>
  const columns: readonly Column<Limits['used'][number]>[] = [
    {
      name: 'Usage this minute',
      width: '30%',
      of: ({ kind, name, start }) => (
        <>
          {name ?? kinds[kind] ?? kind}
          {start !== undefined && <code class="row-detail">{start}…</code>}
        </>
      ),
    },
    { name: 'Requests', of: ({ requests }) => amount(requests, requestsPerMinute) },
    { name: 'Tokens', of: ({ tokens }) => amount(tokens, tokensPerMinute) },
    { name: 'Streams', of: ({ streams }) => amount(streams, concurrentStreams) },
    { name: 'Refused', of: ({ refused }) => (refused > 0 ? <strong>{refused}</strong> : refused) },
    { name: 'Resets in', of: ({ resetMs }) => `${Math.ceil(resetMs / 1000)} s` },
  ]
  return <Table caption="Usage this minute" columns={columns} rows={used} keyOf={({ kind, id }) => `${kind} ${id}`} />
}

/** An amount and its limit; a dash if there is no limit. */
function amount(amount: number, limit: number) {
  if (limit === 0) return <span class="quiet">–</span>
  const words = `${amount} of ${limit}`
  return amount >= limit ? <strong>{words}</strong> : words
}
