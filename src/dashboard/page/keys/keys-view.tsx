/** The user's API keys. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../../keys/operations.js'
import { viewAt } from '../../routes.js'
import { UsePanel } from '../connect/connect-view.jsx'
import { forgetKey, setFreshKey } from '../connect/fresh-key.jsx'
import { userApi } from '../session/session.js'
import { RequireUser } from '../session/sign-in.jsx'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Button } from '../widgets/button.jsx'
import { AskButton, openDialog, removeDialog } from '../widgets/dialog.jsx'
import { Moment } from '../widgets/moment.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty, Shown } from '../widgets/states.jsx'
import { type Column, Table } from '../widgets/table.jsx'
import { Section, View } from '../widgets/view.jsx'
import { CreateDialog, RollDialog, SecretDialog } from './key-dialogs.jsx'

export function KeysView() {
  return (
    <RequireUser>
      <Keys />
    </RequireUser>
  )
}

function Keys() {
  const loaded = useResource(async signal => (await userApi('GET /keys', { signal })).data, [], EVERY_MS)
  // An open dialog belongs to the user, so it closes when the session ends. When the user goes to another view, it asks first.
  useEffect(() => () => void (viewAt(location.pathname) === 'connect' && removeDialog()), [])
  const onMade = (fresh: NewApiKey) => {
    setFreshKey(fresh)
    loaded.reload()
    openDialog(
      <SecretDialog
        title={`Your key “${fresh.name}”`}
        secret={fresh.key}
        what="key"
        note="Copy it now: it is not shown again. Only its fingerprint is kept."
      />,
    )
  }
  const create = (
    <Button tone="main" icon="plus" onClick={() => openDialog(<CreateDialog onMade={onMade} />)}>
      Create key
    </Button>
  )
  const roll = (key: ApiKeyView) => (
    <Button small about={key.name} onClick={() => openDialog(<RollDialog old={key} onMade={onMade} />)}>
      Roll
    </Button>
  )
  return (
    <View title="API keys" lead="Apps use them to call the language model on your behalf." action={create}>
      <Shown of={loaded}>
        {keys => (
          <KeyTable
            caption="Your API keys"
            keys={keys}
            none={<Empty title="No keys yet">Create one for each app, so you can revoke them one by one.</Empty>}
            more={roll}
            revoke={id => userApi('DELETE /keys/{id}', { id })}
            onRevoked={loaded.reload}
          />
        )}
      </Shown>
      {/* Not before the keys have loaded, since they would push it down. */}
      {(loaded.value || loaded.failure) && (
        <Section title="Use your key">
          <UsePanel>A key that you create is filled in here until you leave or reload this page.</UsePanel>
        </Section>
      )}
    </View>
  )
}

const tones: Record<ApiKeyView['state'], Tone> = { active: 'good', expired: 'care', revoked: 'plain' }
const words: Record<ApiKeyView['state'], string> = { active: 'Active', expired: 'Expired', revoked: 'Revoked' }

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
  readonly none: ComponentChildren
  /** Further actions for a key that is not revoked. */
  readonly more?: (key: ApiKeyView) => ComponentChildren
  readonly revoke: (id: string) => Promise<unknown>
  readonly onRevoked: () => void
}

export function KeyTable({ keys, more, revoke, onRevoked, ...table }: KeyTableProps) {
  const revokeButton = ({ id, name, start }: ApiKeyView) => (
    <AskButton
      small
      about={name}
      label="Revoke"
      title={`Revoke “${name}”?`}
      send="Revoke key"
      onSend={() => revoke(id)}
      onDone={() => {
        forgetKey(id)
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
      {...table}
      columns={keyColumns}
      rows={keys}
      keyOf={({ id }) => id}
      isDim={({ state }) => state !== 'active'}
      actionsWidth="11rem"
      actions={key => (
        <>
          {key.state !== 'revoked' && more?.(key)}
          {key.state === 'active' && revokeButton(key)}
        </>
      )}
    />
  )
}
