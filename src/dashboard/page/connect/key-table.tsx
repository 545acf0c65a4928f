/** A table of API keys, which can be revoked. */
import type { ComponentChildren } from 'preact'
import type { ApiKeyView } from '../../../keys/operations.js'
import { freshKey } from '../session/session.js'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { AskButton } from '../widgets/dialog.jsx'
import { Moment } from '../widgets/moment.jsx'
import { type Column, Table } from '../widgets/table.jsx'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** Lifetimes of a new key, in seconds. */
export const lifetimes = [
  ['never', 'Never'],
  [String(HOUR_S), 'In 1 hour'],
  [String(7 * DAY_S), 'In 7 days'],
  [String(30 * DAY_S), 'In 30 days'],
  [String(90 * DAY_S), 'In 90 days'],
] as const

const states: Record<ApiKeyView['state'], readonly [Tone, string]> = {
  active: ['good', 'Active'],
  expired: ['care', 'Expired'],
  revoked: ['plain', 'Revoked'],
}

const keyColumns: readonly Column<ApiKeyView>[] = [
  {
    name: 'Name',
    of: ({ name, start }) => (
      <>
        {name}
        <code class="row-detail">{start}…</code>
      </>
    ),
  },
  {
    name: 'State',
    width: '12%',
    plain: true,
    of: ({ state }) => <Badge tone={states[state][0]}>{states[state][1]}</Badge>,
  },
  { name: 'Last used', width: '16%', of: ({ last_used_at }) => <Moment at={last_used_at} /> },
  { name: 'Ends', width: '16%', of: ({ revoked_at, expires_at }) => <Moment at={revoked_at ?? expires_at} /> },
]

interface KeyTableProps {
  readonly keys: readonly ApiKeyView[]
  /** Said if there are none. */
  readonly none: string
  /** Who owns a key, for a list of the keys of all users. */
  readonly ownerOf?: (key: ApiKeyView) => ComponentChildren
  readonly revoke: (id: string) => Promise<unknown>
  readonly onRevoked: () => void
}

export function KeyTable({ keys, none, ownerOf, revoke, onRevoked }: KeyTableProps) {
  const [name, ...others] = keyColumns
  const owner: readonly Column<ApiKeyView>[] = ownerOf ? [{ name: 'Owner', width: '20%', of: ownerOf }] : []
  const columns = name ? [name, ...owner, ...others] : []
  const revokeButton = ({ id, name, start }: ApiKeyView) => (
    <AskButton
      small
      about={name}
      label="Revoke"
      title={`Revoke “${name}”?`}
      send="Revoke key"
      onSend={() => revoke(id)}
      onDone={() => {
        if (freshKey.get()?.id === id) freshKey.set(undefined)
        onRevoked()
      }}
      said={`The key ${name} was revoked.`}
    >
      <p>
        Requests with <code>{start}…</code> get a 401 from now on. This cannot be undone.
      </p>
    </AskButton>
  )
  return (
    <Table
      caption="API keys"
      none={<p class="quiet">{none}</p>}
      columns={columns}
      rows={keys}
      keyOf={({ id }) => id}
      isDim={({ state }) => state !== 'active'}
      actionsWidth="6.5rem"
      actions={key => key.state === 'active' && revokeButton(key)}
    />
  )
}
