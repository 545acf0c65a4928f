/** The user's API keys: list, create, roll, revoke and use them. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../keys/operations.js'
import type { DashboardApi } from '../api.js'
import { setFreshKey } from '../connect/fresh-key.jsx'
import { UsePanel } from '../connect/use-panel.jsx'
import { useUserApi } from '../session/session.jsx'
import { RequireUser } from '../session/sign-in.jsx'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { Icon } from '../widgets/icon.jsx'
import { EVERY_MS } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { useResource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { View } from '../widgets/view.jsx'
import { askToRevoke, CreateDialog, RollDialog, SecretDialog } from './key-dialogs.jsx'

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly fresh: NewApiKey }
  | { readonly kind: 'roll'; readonly old: ApiKeyView }

export function KeysView() {
  return (
    <RequireUser>
      <Keys />
    </RequireUser>
  )
}

function Keys() {
  const api = useUserApi()
  const loaded = useResource(async signal => (await api('GET /keys', { signal })).data, [api], EVERY_MS)
  const [open, setOpen] = useState<Open>()
  const { value: keys } = loaded

  // By the time a dialog has closed, the next one may be open.
  const close = (kind: Open['kind']) => setOpen(now => (now?.kind === kind ? undefined : now))
  const made = (fresh: NewApiKey) => {
    setFreshKey(fresh)
    setOpen({ kind: 'secret', fresh })
    loaded.reload()
  }
  const revoke = (key: ApiKeyView) => askToRevoke(key, () => api('DELETE /keys/{id}', { id: key.id }), loaded.reload)
  const create = (
    <Button tone="main" onClick={() => setOpen({ kind: 'create' })}>
      <Icon name="plus" />
      Create key
    </Button>
  )

  return (
    <View title="API keys" lead="Apps use them to call the language model on your behalf." action={create}>
      <Shown of={loaded}>
        {found =>
          found.length === 0 ? (
            <Empty title="No keys yet">Create one for each app, so you can revoke them one by one.</Empty>
          ) : (
            <KeyTable
              caption="Your API keys"
              keys={found}
              actions={key => (
                <>
                  <Button small aria-label={`Roll ${key.name}`} onClick={() => setOpen({ kind: 'roll', old: key })}>
                    Roll
                  </Button>
                  <RevokeButton of={key} onClick={() => revoke(key)} />
                </>
              )}
            />
          )
        }
      </Shown>
      {/* Shown after the keys have loaded, which would otherwise push it down. */}
      {(keys || loaded.failure) && (
        <section aria-labelledby="use">
          <h2 id="use">Use your key</h2>
          <UsePanel>A key that you create is filled in here until you leave or reload this page.</UsePanel>
        </section>
      )}
      {open && <KeyDialog open={open} api={api} onMade={made} onClosed={close} />}
    </View>
  )
}

interface KeyDialogProps {
  readonly open: Open
  readonly api: DashboardApi
  readonly onMade: (key: NewApiKey) => void
  readonly onClosed: (kind: Open['kind']) => void
}

function KeyDialog({ open, api, onMade, onClosed }: KeyDialogProps) {
  const closed = () => onClosed(open.kind)
  switch (open.kind) {
    case 'create':
      return <CreateDialog api={api} onMade={onMade} onClosed={closed} />
    case 'roll':
      return <RollDialog old={open.old} api={api} onMade={onMade} onClosed={closed} />
    case 'secret':
      return (
        <SecretDialog
          title={`Your key “${open.fresh.name}”`}
          secret={open.fresh.key}
          what="key"
          note="Copy it now: it is not shown again. Only its fingerprint is kept."
          onClosed={closed}
        />
      )
  }
}

interface RevokeButtonProps {
  readonly of: ApiKeyView
  readonly onClick: () => void
}

export function RevokeButton({ of: { name, state }, onClick }: RevokeButtonProps) {
  if (state !== 'active') return null
  return (
    <Button small tone="warns" aria-label={`Revoke ${name}`} onClick={onClick}>
      Revoke
    </Button>
  )
}

const tones: Record<ApiKeyView['state'], Tone> = { active: 'good', expired: 'care', revoked: 'plain' }
const words: Record<ApiKeyView['state'], string> = { active: 'Active', expired: 'Expired', revoked: 'Revoked' }

const columns: readonly Column<ApiKeyView>[] = [
  {
    name: 'Name',
    of: ({ name, start }) => (
      <>
        {name}
        <code class="row-detail">{start}…</code>
      </>
    ),
  },
  { name: 'State', width: '12%', plain: true, of: ({ state }) => <Badge tone={tones[state]}>{words[state]}</Badge> },
  { name: 'Created', width: '14%', of: ({ created_at }) => <Moment at={created_at} /> },
  { name: 'Last used', width: '14%', of: ({ last_used_at }) => <Moment at={last_used_at} /> },
  {
    name: 'Expires',
    width: '16%',
    of({ revoked_at, expires_at }) {
      if (revoked_at === null) return <Moment at={expires_at} />
      return (
        <>
          Revoked <Moment at={revoked_at} />
        </>
      )
    },
  },
]

interface KeyTableProps {
  readonly caption: string
  readonly keys: readonly ApiKeyView[]
  readonly actions: (key: ApiKeyView) => ComponentChildren
}

/** API keys of one user. Those that were revoked have no actions. */
export function KeyTable({ caption, keys, actions }: KeyTableProps) {
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={keys}
      keyOf={({ id }) => id}
      isDim={({ state }) => state !== 'active'}
      actionsWidth="11rem"
      actions={key => key.state !== 'revoked' && actions(key)}
    />
  )
}
