/** The user's API keys: list, create, roll, revoke and use them. */
import { useCallback, useState } from 'preact/hooks'
import type { ApiKeyView, NewApiKey } from '../../keys/operations.js'
import { useUserApi } from '../api.js'
import { useFreshKey } from '../connect/fresh-key.jsx'
import { UsePanel } from '../connect/use-panel.jsx'
import { useListing } from '../listing.js'
import { RequireUser } from '../session/sign-in.jsx'
import { Badge, type Tone } from '../widgets/badge.jsx'
import { Icon } from '../widgets/icon.jsx'
import { Moment } from '../widgets/moment.jsx'
import { Empty, Shown } from '../widgets/states.jsx'
import { View } from '../widgets/view.jsx'
import { CreateDialog } from './create-dialog.jsx'
import { RevokeDialog, RollDialog, SecretDialog } from './key-dialogs.jsx'

/** Polls, because keys may be used while the list is open. */
const EVERY_MS = 5000

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'secret'; readonly fresh: NewApiKey }
  | { readonly kind: 'roll' | 'revoke'; readonly old: ApiKeyView }

export function KeysView() {
  return (
    <RequireUser>
      <Keys />
    </RequireUser>
  )
}

function Keys() {
  const api = useUserApi()
  const load = useCallback(async (signal: AbortSignal) => (await api('GET /keys', { signal })).data, [api])
  const loaded = useListing(load, EVERY_MS)
  const { setFresh } = useFreshKey()
  const [open, setOpen] = useState<Open>()

  // By the time a dialog has closed, the next one may be open.
  const close = (kind: Open['kind']) => () => setOpen(now => (now?.kind === kind ? undefined : now))
  const made = (fresh: NewApiKey) => {
    setFresh(fresh)
    setOpen({ kind: 'secret', fresh })
    loaded.reload()
  }
  const create = (
    <button type="button" class="button button-main" onClick={() => setOpen({ kind: 'create' })}>
      <Icon name="plus" />
      Create key
    </button>
  )

  return (
    <View title="API keys" lead="With a key an app calls the language model in your name." action={create}>
      <Shown of={loaded}>
        {found =>
          found.length === 0 ? (
            <Empty title="No keys yet">
              <p>Create one for each place that needs one, so that each can be taken back by itself.</p>
            </Empty>
          ) : (
            <KeyTable
              keys={found}
              onRoll={old => setOpen({ kind: 'roll', old })}
              onRevoke={old => setOpen({ kind: 'revoke', old })}
            />
          )
        }
      </Shown>
      {/* Shown after the keys have loaded, which would otherwise push it down. */}
      {loaded.listing.kind !== 'loading' && (
        <section aria-labelledby="use">
          <h2 id="use">Use your key</h2>
          <UsePanel>A key that you create is filled in here, until you leave or reload this page.</UsePanel>
        </section>
      )}
      {open?.kind === 'create' && <CreateDialog api={api} onMade={made} onClosed={close('create')} />}
      {open?.kind === 'secret' && <SecretDialog fresh={open.fresh} onClosed={close('secret')} />}
      {open?.kind === 'roll' && <RollDialog old={open.old} api={api} onMade={made} onClosed={close('roll')} />}
      {open?.kind === 'revoke' && (
        <RevokeDialog old={open.old} api={api} onRevoked={loaded.reload} onClosed={close('revoke')} />
      )}
    </View>
  )
}

const tones: Record<ApiKeyView['state'], Tone> = { active: 'good', expired: 'care', revoked: 'plain' }
const words: Record<ApiKeyView['state'], string> = { active: 'Active', expired: 'Expired', revoked: 'Revoked' }

interface Props {
  readonly keys: readonly ApiKeyView[]
  readonly onRoll: (key: ApiKeyView) => void
  readonly onRevoke: (key: ApiKeyView) => void
}

/** The user's keys. */
function KeyTable({ keys, ...actions }: Props) {
  return (
    <table class="table table-stacking">
      <caption class="unseen">Your API keys</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(key => (
          <KeyRow key={key.id} of={key} {...actions} />
        ))}
      </tbody>
    </table>
  )
}

function KeyRow({ of: key, onRoll, onRevoke }: { readonly of: ApiKeyView } & Omit<Props, 'keys'>) {
  const { name, start, state, created_at, last_used_at, expires_at, revoked_at } = key
  return (
    <tr class={state === 'active' ? undefined : 'row-dim'}>
      <th scope="row">
        {name}
        <code class="key-start">{start}…</code>
      </th>
      <td>
        <Badge tone={tones[state]}>{words[state]}</Badge>
      </td>
      <td data-label="Created">
        <Moment at={created_at} />
      </td>
      <td data-label="Last used">{last_used_at ? <Moment at={last_used_at} /> : 'never'}</td>
      <td data-label="Expires">
        {revoked_at ? (
          <>
            ended <Moment at={revoked_at} />
          </>
        ) : expires_at ? (
          <Moment at={expires_at} />
        ) : (
          'never'
        )}
      </td>
      <td class="row-actions">
        {state !== 'revoked' && (
          <span class="row-buttons">
            <button type="button" class="button button-small" aria-label={`Roll ${name}`} onClick={() => onRoll(key)}>
              Roll
            </button>
            {state === 'active' && (
              <button
                type="button"
                class="button button-small button-warns"
                aria-label={`Revoke ${name}`}
                onClick={() => onRevoke(key)}
              >
                Revoke
              </button>
            )}
          </span>
        )}
      </td>
    </tr>
  )
}
