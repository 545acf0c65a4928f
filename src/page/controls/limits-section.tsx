/** The limits per credential, and what each credential has used. */
import type { LimitsInForce } from '../../config/limit-options.js'
import { Notice } from '../widgets/states.jsx'
import { fieldErrors, useApplied } from './applied.js'
import type { UsageJson } from './controls-client.js'
import { NumberField } from './pace-fields.jsx'
import { type ControlProps, Section } from './section.jsx'

interface Limit {
  readonly field: keyof LimitsInForce
  readonly label: string
  readonly hint?: string
  readonly unit?: string
}

const limits: readonly Limit[] = [
  { field: 'requestsPerMinute', label: 'Requests', unit: '/ min' },
  { field: 'tokensPerMinute', label: 'Tokens', unit: '/ min', hint: 'Prompts and answers.' },
  { field: 'concurrentStreams', label: 'Open streams' },
  { field: 'maxPromptTokens', label: 'Prompt tokens', hint: 'More is a 400.' },
  { field: 'bodyBytes', label: 'Largest body', unit: 'bytes', hint: 'More is a 413.' },
]

const names = limits.map(({ field }) => field)

export function LimitsSection({ controls: { limits: standing }, client, reload }: ControlProps) {
  const { inForce, isChanged, used } = standing
  const { shown, failure, apply, forget } = useApplied({ inForce, send: client.setLimits, reload })
  const errors = fieldErrors(failure, names)
  const restore = async () => {
    forget()
    await client.restoreLimits().finally(reload)
  }
  return (
    <Section
      title="Limits"
      lead="Of each credential; more is a 429 that says when to come again. 0 is no limit."
      state={{ isChanged, restore }}
    >
      <div class="limits">
        {limits.map(({ field, ...words }) => (
          <NumberField
            key={field}
            {...words}
            value={shown[field]}
            error={errors.of(field)}
            onChange={value => apply({ ...shown, [field]: value }, 'The limit is in force.')}
          />
        ))}
      </div>
      {errors.other !== undefined && <Notice tone="danger">{errors.other}</Notice>}
      <UsageTable used={used} limits={inForce} />
    </Section>
  )
}

interface Props {
  readonly used: readonly UsageJson[]
  readonly limits: LimitsInForce
}

const kinds: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  user: 'User',
  anon: 'Anon key',
  service: 'Service key',
  stranger: 'Key of the live platform',
}

/** What each credential has used of its limits in the current minute. */
function UsageTable({ used, limits }: Props) {
  const { requestsPerMinute, tokensPerMinute, concurrentStreams } = limits
  const isLimited = requestsPerMinute > 0 || tokensPerMinute > 0 || concurrentStreams > 0
  if (!isLimited) return <p class="quiet">Nothing is counted, since nothing is limited by the minute.</p>
  if (used.length === 0) return <p class="quiet">No credential has used anything in this minute.</p>
  return (
    <table class="table table-stacking usage-table">
      <caption class="unseen">Used in this minute</caption>
      <thead>
        <tr>
          <th scope="col">Used in this minute</th>
          <th scope="col">Requests</th>
          <th scope="col">Tokens</th>
          <th scope="col">Streams</th>
          <th scope="col">Refused</th>
          <th scope="col">All again in</th>
        </tr>
      </thead>
      <tbody>
        {used.map(({ kind, id, name, start, requests, tokens, streams, refused, resetMs }) => (
          <tr key={`${kind} ${id}`}>
            <th scope="row">
              {name ?? kinds[kind] ?? kind}
              {start !== undefined && <code class="key-start">{start}…</code>}
            </th>
            <td data-label="Requests">
              <Amount of={requests} limit={requestsPerMinute} />
            </td>
            <td data-label="Tokens">
              <Amount of={tokens} limit={tokensPerMinute} />
            </td>
            <td data-label="Streams">
              <Amount of={streams} limit={concurrentStreams} />
            </td>
            <td data-label="Refused">{refused > 0 ? <strong class="usage-refused">{refused}</strong> : refused}</td>
            <td data-label="All again in">{Math.ceil(resetMs / 1000)} s</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** An amount and its share of the limit; a dash if there is no limit. */
function Amount({ of: amount, limit }: { readonly of: number; readonly limit: number }) {
  if (limit === 0) return <span class="quiet">–</span>
  return (
    <span class="amount">
      {amount} of {limit}
      <span class="amount-bar" aria-hidden="true">
        <span
          class={amount >= limit ? 'amount-full' : undefined}
          style={{ width: `${Math.min(1, amount / limit) * 100}%` }}
        />
      </span>
    </span>
  )
}
